/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables that numbers come from, each read once, when it is first asked for: data/csv/NAME.csv
 * with what was measured again put in place of the older (grid_latest), and three that are made of
 * what stands elsewhere:
 *   runs      a row a run folder: platform, machine, versions, from the headers of its recordings
 *   settings  a row a key of the fixed sections: what it is unless a config says otherwise
 *   asked     a row a config and such a key: what it is there, and where that is written
 */
#ifndef GS_PAPER_SHELF_H
#define GS_PAPER_SHELF_H

#include "publish/grid.h"

struct shelf {
    const char *csv, *raw, *configs; /* folders; lent */
    struct grid **v;
    size_t n;
};

/* Owned by the shelf. GS_OK, or reported: a table that is not there, with the nearest name. */
int shelf_find(struct shelf *s, const char *name, const struct grid **out);
void shelf_free(struct shelf *s);

/* Reports that the table's file is not there, with the nearest name; GS_USAGE. */
int shelf_no_table(const struct shelf *s, const char *name, const char *path);

/* A row of again.csv is of two runs, all others of one at most. */
enum row_run { ROW_RUN, ROW_EARLIER_RUN, ROW_RUNS };

/* The folder of a run that a row is of; the caller frees it. NULL: of no such run. A row of a
 * platform and workload but no run, as of transitions.csv, is of the latest finished one. */
char *shelf_run(struct shelf *s, const struct grid *g, size_t row, enum row_run which);

/* The three. */
int shelf_runs(struct grid **out, const char *raw);
int shelf_asked(struct grid **out, const char *configs);
struct grid *shelf_settings(void);

#endif
