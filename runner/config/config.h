/* SPDX-License-Identifier: Apache-2.0
 *
 * A platform config: an .ini file read with iniparser, plus --set overrides, with the line of every
 * key for messages. Sections: [platform], [launch], [measure], [limits], [reference], [slurm],
 * [cost] and one a workload, named as its plugin with an optional label: [mpi_allreduce],
 * [nccl_allreduce latency]. [sites], [links], [link NAME], [model] and [lab] belong to the WAN.
 */
#ifndef GS_CONFIG_H
#define GS_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

struct config_entry {
    char *section; /* as written, lower case */
    char *key;     /* lower case */
    char *value;
    const char *file; /* "--set" for an override */
    int line;         /* 0 for an override */
};

struct config_section {
    char *name;
    int line;
};

struct config {
    char *path;
    char *text;                   /* the file's bytes */
    struct config_entry *entries; /* in file order, overrides applied */
    size_t n;
    struct config_section *sections; /* in file order; one may have no entries */
    size_t n_sections;
    char **overrides; /* as given, NULL-terminated */
    unsigned owners;
};

/* `path`: a file, or a name that locate_config finds one for. `overrides`: NULL, or NULL-terminated
 * "section:key=value" texts. Returns GS_OK or the exit code of an error that has been reported:
 * file that cannot be read, a line that is neither, a duplicate key, an unknown section or key of a
 * fixed section (with the nearest name). */
int config_load(struct config **out, const char *path, const char *const *overrides);

/* As config_load, but *out is set whenever the file could be read, whatever its faults, so that
 * what stands in the rest of it can be judged too; NULL otherwise. */
int config_load_all(struct config **out, const char *path, const char *const *overrides);

/* The same for a text that is already in memory; `path` is what messages call it. *out is always
 * set. */
int config_from_text(struct config **out, const char *path, const char *text, size_t n,
                     const char *const *overrides);

struct config *config_share(struct config *c); /* one more owner; returns c */
void config_free(struct config *c);            /* the last owner frees it */

const struct config_entry *config_find(const struct config *c, const char *section,
                                       const char *key);
/* Where what stands at a key is from: "KEY.source", else "source" of the section, else "". */
const char *config_source(const struct config *c, const char *section, const char *key);
const struct config_section *config_section(const struct config *c, const char *name);

/* "FILE:LINE: key 'KEY': TEXT"; returns GS_USAGE. */
int config_error(const struct config_entry *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The i-th workload section's name, e.g. "nccl_allreduce latency"; NULL past the last. */
const char *config_workload(const struct config *c, size_t i);

#endif
