/* SPDX-License-Identifier: Apache-2.0
 *
 * A test of a file with all that is known of it, and as a recording: one launch.
 */
#ifndef GS_IMPORT_LAUNCH_H
#define GS_IMPORT_LAUNCH_H

#include "import/import_write.h"

#define IMPORT_LABEL "imported"

struct launch {
    const struct import *imp;
    const struct imp_test *test;
    struct facts facts;
    const struct import_platform *at; /* NULL: no config says where */
    char *config, *platform;
    char *key;       /* equal for launches of one run */
    char *cells_key; /* the cells that it has */
    int64_t ranks, nodes;
    size_t file;
    bool written;
};

/* `index` of the file, `test` in it. GS_OK, or GS_USAGE, reported: a fact is missing or contradicts
 * another. launch_forget in both cases. */
int launch_know(struct launch *l, const struct imported *file, size_t index, size_t test);
void launch_forget(struct launch *l);

/* DIR/launch-NN.01.jsonl. GS_OK or reported. */
int launch_write(const struct launch *l, const char *dir, int number);

#endif
