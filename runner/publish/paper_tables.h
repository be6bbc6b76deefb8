/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables behind the numbers, each read on first use: data/csv/NAME.csv, where newer measurements
 * replace older ones (grid_latest), and three tables from other sources:
 *   runs      one row for each run folder: platform, machine, versions, from the headers of its
 *             recordings
 *   settings  one row for each key of the fixed sections: its default
 *   asked     one row for each config and such a key: its value there, and its file and line
 */
#pragma once

#include "publish/grid.h"

struct paper_tables {
    const char *csv, *raw, *configs; /* folders; the caller owns the texts */
    struct grid **v;
    size_t n;
};

/* Owned by the tables. GS_OK, or reported: a table that is not there, with the nearest name. */
int paper_tables_find(struct paper_tables *s, const char *name, const struct grid **out);
void paper_tables_free(struct paper_tables *s);

/* Reports that the table's file is not there, with the nearest name; GS_USAGE. */
int paper_tables_no_table(const struct paper_tables *s, const char *name, const char *path);

/* A row of again.csv belongs to two runs, any other row to one or none. */
enum row_run { ROW_RUN, ROW_EARLIER_RUN, ROW_RUNS };

/* The folder of a run of this row; the caller frees it. NULL: there is none. A row with a platform and
 * workload but no run, as in transitions.csv, belongs to the latest finished run. */
char *paper_tables_run(struct paper_tables *s, const struct grid *g, size_t row,
                       enum row_run which);

/* The three tables from other sources. */
int paper_tables_runs(struct grid **out, const char *raw);
int paper_tables_asked(struct grid **out, const char *configs);
struct grid *paper_tables_settings(void);
