/* SPDX-License-Identifier: Apache-2.0
 *
 * The report: recordings, tables and figures of some platforms as one self-contained HTML
 * page: figures are inline SVG, and nothing is fetched. A short script sorts tables and copies
 * commands; the page can be read without it. The same inputs give the same bytes.
 */
#pragma once

#include "base/text.h"
#include "publish/tables.h"
#include "record/machine.h"
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

extern const char page_style[], page_script[];

/* Writes HTML. The characters of each %s that HTML reserves are escaped; %d and %zu are numbers. */
void page_put(FILE *f, const char *html, ...) __attribute__((format(printf, 2, 3)));

/* A run, as described in its first recording. */
struct page_run {
    struct machine machine;
    char *dir, *origin;
    char *load;    /* host_load.h; NULL: idle, or not known */
    bool finished; /* its manifest exists and matches */
};
const char *page_fact(const struct page_run *r, enum machine_fact fact); /* "": not recorded */
/* Lists all runs below `raw`, sorted by platform, workload, label, id. GS_OK or reported. */
int page_runs_read(struct page_run **runs, size_t *n, const char *raw);
void page_runs_free(struct page_run *runs, size_t n);

/* The runs of a platform and the machines that they were measured on. */
void page_put_runs(FILE *f, const struct page_run *runs, size_t n, const char *platform);

/* The output of `gradsync advise` for the platforms, a row for each step, and the figure of the answer.
 * Each figure takes the next *serial for its identifiers. */
int page_put_answer(FILE *f, const struct page_source *source, const struct words *platforms,
                    int *serial);

/* A folder of figures, and how many bytes of them the page has room for. */
struct page_place {
    const char *figures, *folder, *id; /* id: of the section */
    size_t room;
};
size_t page_count_figures(const char *figures, const char *folder);
/* The first writes all figures but that of the answer, folded, grouped by question; the second that
 * one alone. */
int page_put_figures(FILE *f, const struct page_place *at, int *serial);
int page_put_answer_figure(FILE *f, const char *figures, const char *platform, int *serial);

/* A command that the reader can copy. */
void page_command(FILE *f, const char *command);

/* The next three use the latest of several runs that measured the same.
 * Writes how many contrasts of a platform have which verdict, in one sentence per mode. */
int page_put_counts(FILE *f, struct paper_tables *tables, const char *platform);
/* The same for all platforms: a row for each platform and mode, with a link to its section. */
int page_put_overview(FILE *f, struct paper_tables *tables, const struct words *platforms);
/* The tables of a platform, at most `most` rows each: the configs that are faster than their baseline,
 * then, folded, all others. */
int page_put_tables(FILE *f, struct paper_tables *tables, const char *platform, size_t most);
