/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the two kinds of files that scripts of the field read, for one run:
 *   allreduce.txt                   tables as nccl-tests prints them, for collectives only; one for
 *                                   each config and each set of parameters other than the size
 *   iteration_times_CONFIG.txt      the times of the overlapped step in ms, one on a line, in the
 *                                   order measured; if several groups have steps,
 *                                   iteration_times_CONFIG.N.txt for group N of the plan
 *
 * CONFIG has '-' in place of characters that suit no file name.
 */
#pragma once

#include "base/csv.h"
#include "reduce/summary.h"

struct classic {
    char *dir;
    const struct recorded *r;
    bool several; /* several groups have steps */
    struct classic_times {
        size_t cell;
        struct csv file;
    } * times; /* of the current group */
    size_t n_times;
};

/* `out`: the CSV folder. */
void classic_open(struct classic *c, const struct recorded *r, const char *out);
/* Takes the samples of a block, as gather_sink does. GS_OK or reported. */
int classic_block(struct classic *c, const struct rec_cell *cell, const uint64_t *time_ns, size_t n,
                  uint64_t iters);
/* Closes the files of the current group. GS_OK or reported. */
int classic_group(struct classic *c);
/* Writes allreduce.txt from the summaries of all cells; a cell whose median is NaN has no row. GS_OK
 * or reported. */
int classic_table(struct classic *c, const struct summary *cells);
void classic_close(struct classic *c);
