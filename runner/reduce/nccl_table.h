/* SPDX-License-Identifier: Apache-2.0
 *
 * The all-reduces of a run as nccl-tests' all_reduce_perf prints them: a table for each config and
 * each set of parameters other than the size, with median times. Out of place and in place stand
 * beside each other; N/A where one was not measured.
 */
#pragma once

#include "reduce/summary.h"

/* Is it an all-reduce with numbers? */
bool nccl_table_has(const struct rec_cell *cell, const struct summary *s);
/* The text, from the summaries of all cells; the caller frees it. NULL: no all-reduce. */
char *nccl_table_text(const struct recorded *r, const struct summary *cells);
