/* SPDX-License-Identifier: Apache-2.0
 *
 * The run folders below a folder, in the order in which tables name them.
 */
#ifndef GS_RUNS_H
#define GS_RUNS_H

#include <stdbool.h>
#include <stddef.h>

struct run_folder {
    char *dir;
    char *key; /* NULL when unsorted; platform, workload, label and run id, a line each: sorts by
                  them in turn */
};

struct runs {
    struct run_folder *v;
    size_t n;
    bool unsorted; /* as given to runs_find: folders alone, no recording is opened */
};

/* A run folder holds launch-LL.AA.jsonl files. */
bool runs_is_run(const char *dir);
/* Does one of its recordings hold a block of samples? A run that measured nothing (no GPU, killed
 * too early) must not stand in for an older one that did. A damaged recording counts as measured:
 * whoever reads it reports it. */
bool runs_measured(const char *dir);

/* Adds the folder itself or those below. One without a line recorded yet is said and left out.
 * GS_OK or reported: no such folder, a recording whose header cannot be read. */
int runs_find(struct runs *r, const char *root);
/* Those below all of the roots, sorted; GS_OK or reported: as runs_find and runs_sort, and no
 * recording at all. */
int runs_below(struct runs *r, const char *const *roots, size_t n);
/* Adds one run folder, also without a line (its key is then its path). */
int runs_add(struct runs *r, const char *dir);
/* GS_OK, or GS_USAGE, reported: the same run twice. */
int runs_sort(struct runs *r);
void runs_free(struct runs *r);

/* Has the run in this folder a manifest? */
bool run_is_final(const char *dir);

#endif
