/* SPDX-License-Identifier: Apache-2.0
 *
 * The report: what `compare` says of some platforms, their figures and tables, as one HTML page that
 * fetches nothing. report.html is its frame. The same inputs give the same bytes.
 */
#pragma once

struct report_source {
    const char *raw, *figures;    /* folders: data/raw, figures/out */
    const char *const *platforms; /* NULL-terminated; empty: all */
};

/* Writes the page to `path`, whole or not at all. GS_OK, or reported: a platform has no recording. */
int report_write(const char *path, const struct report_source *source);
