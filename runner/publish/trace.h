/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync why NUMBER`: prints the rows, runs, files and lines behind a number.
 */
#pragma once

#include "publish/numbers.h"

/* Traces at most `most` rows and prints how many more there are. */
int trace_print(struct numbers *b, const struct answer *a, size_t most);

/* Traces the row on this line of CSV/TABLE.csv, admissible or not. GS_OK, or reported: no such
 * table, no row on that line. */
int trace_line(struct numbers *b, const char *table, long line);
