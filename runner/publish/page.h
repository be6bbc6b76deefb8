/* SPDX-License-Identifier: Apache-2.0
 *
 * The report: recordings, tables and figures of some platforms as one self-contained HTML
 * page: figures are inline SVG, there is no script, and nothing is fetched. The same inputs give
 * the same bytes.
 */
#ifndef GS_PAGE_H
#define GS_PAGE_H

#include "base/text.h"
#include "publish/paper_tables.h"
#include "record/runs.h"

#include <stdio.h>

struct page_source {
    const char *raw, *csv, *figures; /* folders: data/raw, data/csv, figures/out */
    const char *const *platforms;    /* NULL-terminated; empty: every one that has a run */
};

/* Writes the page to `path` atomically. GS_OK, or reported: a platform has no run (names the
 * nearest one), or a table is missing. */
int page_write(const char *path, const struct page_source *source);

/* ---- its parts ---- */

extern const char page_style[]; /* the style sheet */

/* Writes text with HTML's special characters escaped. */
void page_text(FILE *f, const char *s);

/* A run, as described in its first recording. */
struct page_run {
    char *dir, *id, *platform, *workload, *label, *started, *commit, *origin;
    char *load;    /* host_load.h; NULL: idle, or not known */
    int launches;  /* recordings of different launches */
    bool finished; /* its manifest exists and matches */
};
/* Lists all runs below `raw`, sorted by platform, workload, label, id. GS_OK or reported. */
int page_runs_read(struct page_run **runs, size_t *n, const char *raw);
void page_runs_free(struct page_run *runs, size_t n);

/* The runs of a platform and the machines that they were measured on. */
void page_put_runs(FILE *f, const struct page_run *runs, size_t n, const char *platform);

/* The figures in FIGURES/PLATFORM, in the order of their names; *n how many. `serial` tells the
 * identifiers of one figure from those of another and is counted on. */
int page_put_figures(FILE *f, const char *figures, const char *platform, int *serial, size_t *n);

/* Of what several runs measured the latest is counted and shown.
 * How many contrasts of a platform have which verdict, in a sentence for each mode. */
int page_put_counts(FILE *f, struct paper_tables *tables, const char *platform);
/* The same of all of them, a row for each platform and mode, with where it begins. */
int page_put_overview(FILE *f, struct paper_tables *tables, const struct words *platforms);
/* An item for each section of training steps: in how many some config beats the baseline, and how
 * many are undecided. *any: whether an item was written; the first one opens the list. */
int page_put_steps(FILE *f, struct paper_tables *tables, const char *platform, bool *any);
/* The tables of a platform: what is faster than its baseline, and, folded, all the rest. */
int page_put_tables(FILE *f, struct paper_tables *tables, const char *platform);

#endif
