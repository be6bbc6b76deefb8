/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds run folders, in the order of the tables.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct run_folder {
    char *dir;
    char *key;  /* sort key: platform, workload, label and run id, one per line; NULL if unsorted */
    char *host; /* of rank 0, or of its lab; "": not recorded; NULL if unsorted */
};

struct runs {
    struct run_folder *v;
    size_t n;
    bool unsorted; /* set before runs_find: finds folders only, opens no recording */
};

/* True if the folder holds a launch-LL.AA.jsonl file. */
bool runs_is_run(const char *dir);
/* True if a recording holds a block of samples. A run that measured nothing (no GPU, killed too
 * early) must not replace an older one that did. A damaged recording counts as measured, so that
 * its reader reports it. */
bool runs_measured(const char *dir);

/* Adds the run folder `root`, or all run folders below it; `root` may be the name of a platform. A run
 * without a recorded line is added if it is `root`, with its path as its key; below it, it is reported and ignored. GS_OK, or reported: no such folder, or a header
 * cannot be read. */
int runs_find(struct runs *r, const char *root);
/* All run folders below the roots, sorted. GS_OK, or reported: as runs_find and runs_sort, or there
 * is no recording at all. */
int runs_below(struct runs *r, const char *const *roots, size_t n);
/* Adds one run folder; without a recorded line, its path is its key. */
int runs_add(struct runs *r, const char *dir);
/* GS_OK, or GS_USAGE, reported: the same run twice. */
int runs_sort(struct runs *r);
/* Adds "P/W/RUN" for each folder ROOT/P/W/RUN with a recording, sorted. A makefile uses these names, so
 * they must be plain (printable.h). GS_OK, or reported: a folder or a file in one has another name. */
int runs_names(struct words *names, const char *root);
void runs_free(struct runs *r);
void run_folder_free(struct run_folder *run);
/* Do both have the same platform, workload and label? */
bool runs_same_section(const struct run_folder *a, const struct run_folder *b);

/* True if the run folder has a manifest. */
bool run_is_final(const char *dir);
