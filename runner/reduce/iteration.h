/* SPDX-License-Identifier: Apache-2.0
 *
 * The decomposition of a training step (iteration.csv), for cells whose mode is one of
 *   A compute    the GEMMs alone            C sequential   one after the other
 *   B comm       the all-reduces alone      D overlapped   on two streams
 * measured in the same blocks. Each number is a median over blocks of the value in one block:
 *   exposed = D - A                 communication that the step waits for
 *   hidden  = B - exposed, in [0, B]
 *   overlap = (C - D) / min(A, B)   0: none hidden, 1: all that could be; empty where B is below 1%
 *                                   of A: there the noise of C and D is larger than B
 * throttled is that of the group (reduce.h): clocks that the power cap holds down differ from group
 * to group, so a step's time is comparable inside its group alone; note says so.
 */
#ifndef GS_ITERATION_H
#define GS_ITERATION_H

#include "base/csv.h"
#include "reduce/gather.h"

extern const char iteration_columns[];
extern const char *const iteration_modes[]; /* A, B, C, D, NULL */
/* A row a config of the group that has all four. */
void iteration_rows(struct csv *c, const struct recorded *r, const struct gathered *g);

/* Is it a mode of a step that classic's iteration times are of? */
bool iteration_is_step(const struct rec_cell *cell);

#endif
