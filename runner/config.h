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

struct config {
    char *path;
    char *text;                   /* the file's bytes */
    struct config_entry *entries; /* in file order, overrides applied */
    size_t n;
    char **overrides; /* as given, NULL-terminated */
};

/* `overrides`: NULL, or NULL-terminated "section:key=value" texts. Returns GS_OK or the exit code
 * of an error that has been reported: file that cannot be read, a line that is neither, a duplicate
 * key, an unknown section or key of a fixed section (with the nearest name). */
int config_load(struct config **out, const char *path, const char *const *overrides);
void config_free(struct config *c);

const struct config_entry *config_find(const struct config *c, const char *section,
                                       const char *key);

/* "FILE:LINE: key 'KEY': TEXT"; returns GS_USAGE. */
int config_error(const struct config_entry *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The i-th workload section's name, e.g. "nccl_allreduce latency"; NULL past the last. */
const char *config_workload(const struct config *c, size_t i);

#endif
