/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of a CSV folder, written together: all of them or none.
 */
#pragma once

#include "base/csv.h"

enum table { SAMPLES, SUMMARY, ITERATION, METRICS, LAUNCHES, WAN, TABLES };

struct tables {
    struct csv csv[TABLES];
};

extern const char *const table_names[TABLES]; /* "samples.csv" */
extern const char samples_columns[];
extern const char *const table_columns[TABLES]; /* the header line, without its newline */

/* Writes the header lines. GS_OK; or GS_FAILED, reported, and nothing is left open. */
int tables_open(struct tables *t, const char *dir);
int tables_close(struct tables *t, bool keep);
