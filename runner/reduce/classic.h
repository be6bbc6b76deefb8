/* SPDX-License-Identifier: Apache-2.0
 *
 * The two files that scripts of the field read, of one run:
 *   allreduce.txt                   tables as nccl-tests prints them, one a config and what else
 *                                   than size differs; collectives alone
 *   iteration_times_CONFIG.txt      one time in ms a line, in the order measured, of the overlapped
 *                                   step; of a run with several groups
 *                                   iteration_times_CONFIG.N.txt, for the N-th group of the plan
 *
 * CONFIG has '-' for what a file name had better not hold.
 */
#ifndef GS_CLASSIC_H
#define GS_CLASSIC_H

#include "base/csv.h"
#include "reduce/summary.h"

struct classic {
    char *dir;
    const struct recorded *r;
    bool several; /* groups with steps */
    struct classic_times {
        size_t cell;
        struct csv file;
    } * times; /* of the group at hand */
    size_t n_times;
};

/* `out`: the CSV folder. */
void classic_open(struct classic *c, const struct recorded *r, const char *out);
/* The samples of a block, as gather_sink gives them. GS_OK or reported. */
int classic_block(struct classic *c, const struct rec_cell *cell, const uint64_t *time_ns, size_t n,
                  uint64_t iters);
/* The files of the group that has been read are whole. GS_OK or reported. */
int classic_group(struct classic *c);
/* Rows of the table, config by config, from the summaries of all cells (NaN: none). GS_OK or
 * reported. */
int classic_table(struct classic *c, const struct summary *cells);
void classic_close(struct classic *c);

#endif
