/* SPDX-License-Identifier: Apache-2.0
 *
 * What a config holds: its sections and keys, each with the line it is on, for messages.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct config_entry {
    char *section; /* lower case */
    char *key;     /* lower case */
    char *value;
    const char *file; /* "--set" for an override */
    int line;         /* 0 for an override */
    bool cut;         /* a command with a comment behind it, which its writer may mean as a part */
};

struct config_section {
    char *name;
    int line;
};

struct config {
    char *path;
    char *text;                   /* the file's bytes, without secrets (secrets.h) */
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

void config_add_section(struct config *c, const char *name, int line);
void config_add_entry(struct config *c, const char *section, const char *key, const char *value,
                      const char *file, int line);

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
