/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes recordings of imported tests: each becomes launches of a run, whose platform the file or the user
 * names. Facts that a file lacks are given with --set KEY=VALUE for all files.
 */
#pragma once

#include "config/settings.h"
#include "import/import_text.h"

enum fact {
    FACT_PLATFORM,
    FACT_CONFIG,
    FACT_MODE,
    FACT_SIZE,
    FACT_RANKS,
    FACT_NODES,
    FACT_COLLECTIVE,
    FACT_UNIT, /* of the times of a list */
    FACTS
};

struct facts {
    char *value[FACTS]; /* NULL: unknown */
};

/* GS_OK; or GS_USAGE, reported: unknown key, key given twice, invalid value. */
int facts_set(struct facts *f, const char *key, const char *value);
int facts_set_word(struct facts *f, const char *word); /* "key=value" */
void facts_copy(struct facts *to, const struct facts *from);
void facts_free(struct facts *f);

struct import_platform {
    struct config *config;
    struct settings set;
};

/* A file, and what the user says about it. */
struct imported {
    struct import *imp;
    struct facts facts;
    const struct import_platform *at; /* not owned; NULL: no config names the platform */
};

/* Writes a run for each file; tests of one file with the same cells are launches of one run. With
 * as_launches, files of the same platform, workload, ranks and mode are launches of one run;
 * their configs may differ. Prints the folder of each run. GS_OK; or reported: a fact is missing or
 * contradicts the file, two files have the same bytes (GS_USAGE), or a folder cannot be written.
 * Runs that were written before that are whole. */
int import_write(struct imported *files, size_t n, const char *out, bool as_launches);
