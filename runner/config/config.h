/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads a config: an .ini file, plus --set overrides; its sections and keys, each with its line.
 */
#pragma once

#include "base/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- what a config holds ---- */

struct config_entry {
    char *section; /* lower case */
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
    char *text;                   /* the file's bytes, without secrets (base/shell.h) */
    struct config_entry *entries; /* in file order, overrides applied */
    size_t n;
    struct config_section *sections; /* in file order; one may have no entries */
    size_t n_sections;
    char **overrides; /* as given, without secrets; NULL-terminated */
    unsigned owners;
};

struct config *config_share(struct config *c); /* adds an owner; returns c */
void config_free(struct config *c);            /* the last owner frees it */
AUTO_POINTER(struct config, config_free)

const struct config_entry *config_find(const struct config *c, const char *section,
                                       const char *key);
const struct config_section *config_section(const struct config *c, const char *name);
/* The name of the i-th workload section, e.g. "nccl_allreduce latency"; NULL past the last. */
const char *config_workload(const struct config *c, size_t i);
/* The source of a key's value: "KEY.source", else the section's "source", else "". */
const char *config_source(const struct config *c, const char *section, const char *key);

/* Prints "FILE:LINE: key 'KEY': TEXT"; returns GS_USAGE. */
int config_error(const struct config_entry *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- loading ---- */

/* The runner's own sections are listed in settings_tables.c. Every other section belongs to a workload: its name is a plugin's name and
 * an optional label, as in [mpi_allreduce] and [nccl_allreduce latency]. */

/* `path` is a file, or a name for locate_config. `overrides` is NULL, or a NULL-terminated list of
 * "section:key=value". Returns GS_OK, or GS_USAGE after every fault was reported: a file that cannot
 * be read, a damaged line, a duplicate key, an unknown section or key (with the nearest name). */
int config_load(struct config **out, const char *path, const char *const *overrides);

/* The same, but *out is set despite faults if the file could be read: `gradsync check` goes on to
 * report the faults that other modules find. */
int config_load_all(struct config **out, const char *path, const char *const *overrides);

/* As config_load_all, for a text in memory; messages call it `path`. *out is always set. */
int config_from_text(struct config **out, const char *path, const char *text, size_t n,
                     const char *const *overrides);

/* "gradsync VERB CONFIG --workload W --set O…"; all but the verb may be NULL. The caller frees
 * it. */
char *config_command(const char *verb, const char *config, const char *workload,
                     const char *const *overrides);

/* ---- texts of a JSON document that other people wrote: a line, a plan, a campaign ---- */

/* Reads a whole JSON file of a run folder or a campaign and judges its texts. GS_OK, or reported:
 * damaged, or not a regular file. *out is NULL with GS_OK if there is no such file. */
int json_names_load(json_t **out, const char *path);

/* Every text and key must be printable; members that are names or labels (a table in json_names.c)
 * must be such. False: *why says which is not. */
bool json_names_good(json_t *document, char *why, size_t n);

/* True only if the text is good as a member of this name, whatever else the document holds. */
bool json_names_simple(const char *key, const char *s);
