/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync why NUMBER`: a number back to the lines that it was measured in, on stdout.
 */
#ifndef GS_PAPER_TRACE_H
#define GS_PAPER_TRACE_H

#include "publish/numbers.h"

/* Of a number that stands on more rows than `most`, so many are traced, and the rest is counted. */
int trace_print(struct book *b, const struct answer *a, size_t most);

/* A row of CSV/TABLE.csv by its line, whether or not the paper would print it. GS_OK, or reported:
 * no such table, no row on that line. */
int trace_line(struct book *b, const char *table, long line);

#endif
