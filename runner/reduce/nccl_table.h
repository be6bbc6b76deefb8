/* SPDX-License-Identifier: Apache-2.0
 *
 * The collectives of a run in the sections that nccl-tests prints them in, and the words it has for
 * them.
 */
#pragma once

#include "common/collective.h"
#include "reduce/gather.h"
#include "reduce/summary.h"

/* ---- sections ---- */

/* Is it a collective with numbers? */
bool nccl_sections_has(const struct rec_cell *cell, const struct summary *s);
enum collective nccl_sections_collective(const struct rec_cell *cell);

/* ---- tables ----
 *
 * The collectives of a run as nccl-tests prints them: a table for each config and each set of
 * parameters other than the size, with median times. Out of place and in place stand beside each
 * other; N/A where one was not measured.
 */

/* The text, from the summaries of all cells; the caller frees it. NULL: no collective. */
char *nccl_table_text(const struct recorded *r, const struct summary *cells);
/* As nccl-tests' -J writes it: one report, or an array of one for each table. */
char *nccl_table_json(const struct recorded *r, const struct summary *cells);

/* ---- several nodes ----
 *
 * The usual summary of a multi-node all-reduce, printed after the table of a run on several nodes:
 *   The median bandwidth of all_reduce with a 4.0GB payload (50 trials, 16 ranks):
 *    algbw: 239.742 GBps (1917.9 Gbps)
 *    busbw: 449.515 GBps (3596.1 Gbps)
 */

struct multinode {
    double size_B, algbw, busbw; /* bytes a second */
    size_t trials;
    long long ranks;
};

/* Keeps the series if it is a collective with the largest payload so far, of 0.1 GB or more. */
void multinode_see(struct multinode *m, const struct recorded *r, const struct series *s,
                   const struct summary *summary);
/* The lines; the caller frees them. NULL: no series was kept. */
char *multinode_text(const struct multinode *m);
