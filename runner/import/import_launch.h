/* SPDX-License-Identifier: Apache-2.0
 *
 * A test of an imported file as one launch of a recording.
 */
#pragma once

#include "import/import_facts.h"
#include "import/import_platform.h"

#define IMPORT_LABEL "imported"

/* A file, and what the user says about it. */
struct imported {
    struct import *imp;
    struct facts facts;
    const struct import_platform *at; /* not owned; NULL: no config names the platform */
};

struct import_launch {
    const struct imported *file;
    const struct imp_test *test;
    struct facts facts;
    char *config, *platform;
    char *key;       /* equal for launches of one run */
    char *cells_key; /* equal for launches with the same cells */
    int64_t ranks, nodes;
    bool written;
};

/* `test`: index in the file. GS_OK; or GS_USAGE, reported: a fact is missing or contradicts another.
 * import_launch_free in both cases. */
int import_launch_make(struct import_launch *l, const struct imported *file, size_t test);
void import_launch_free(struct import_launch *l);

/* Writes DIR/launch-NN.01.jsonl (import_record.c). GS_OK or reported. */
int import_launch_write(const struct import_launch *l, const char *dir, int number);
