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

/* A section has one config and mode, and one set of other parameters; each size is a row. */
struct nccl_sections {
    const struct recorded *r;
    const struct summary *cells;
    char **where; /* of each cell: axes_where without the place; NULL: the cell is in no table */
};

struct nccl_sections nccl_sections_make(const struct recorded *r, const struct summary *cells);
void nccl_sections_free(struct nccl_sections *s);

/* Does a section begin with this cell; does a row, which has out of place and in place? */
bool nccl_sections_is_new(const struct nccl_sections *s, size_t cell);
bool nccl_sections_begins_row(const struct nccl_sections *s, size_t first, size_t cell);
/* The cell of the section with this size, in or out of place; n_cells: none. */
size_t nccl_sections_of_size(const struct nccl_sections *s, size_t first, int64_t size_B,
                             bool placed);

/* What a row says beside the times. */
struct nccl_operation_words {
    int64_t count;
    char dtype[64], op[64]; /* as nccl-tests names them */
    int root;
};
struct nccl_operation_words nccl_sections_operation(const struct nccl_sections *s,
                                                    const struct rec_cell *c);

/* Sizes and the mean bus bandwidth of a section. */
struct nccl_extent {
    int64_t least, most;
    double busbw_GBs;
};
struct nccl_extent nccl_sections_extent(const struct nccl_sections *s, size_t first);

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
