/* SPDX-License-Identifier: Apache-2.0
 *
 * The report: recordings, tables and figures of some platforms as one self-contained HTML
 * page: figures are inline SVG, and nothing is fetched. A short script sorts tables and copies
 * commands; the page can be read without it. If several runs measured the same, the latest counts. The
 * same inputs give the same bytes.
 */
#pragma once

struct page_source {
    const char *raw, *csv, *figures; /* folders: data/raw, data/csv, figures/out */
    const char *const *platforms;    /* NULL-terminated; empty: every one that has a run */
};

/* Writes the page to `path` atomically. GS_OK, or reported: a platform has no run (names the
 * nearest one), or a table is missing. */
int page_write(const char *path, const struct page_source *source);
