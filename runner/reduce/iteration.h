/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a training step (iteration.csv), from cells with these modes:
 *   A compute    the GEMMs alone            C sequential   one after the other
 *   B comm       the all-reduces alone      D overlapped   on two streams
 * All four are measured in the same blocks. Each number is a median over blocks of its value in one
 * block:
 *   exposed = D - A                 communication that the step waits for
 *   hidden  = B - exposed, limited to 0..B
 *   overlap = (C - D) / min(A, B)   0: nothing is hidden, 1: everything; empty where B is below 1%
 *                                   of A, because the noise of C and D is larger than B there
 * throttled is that of the group (summary.h). A power cap changes the clocks from group to group, so
 * compare the times of steps only inside a group; note says so.
 */
#pragma once

#include "base/csv.h"
#include "reduce/gather.h"

extern const char iteration_columns[];
extern const char *const iteration_modes[]; /* A, B, C, D, NULL */
/* A row for each config of the group with all four modes. */
void iteration_rows(struct csv *c, const struct recorded *r, const struct gathered *g);

/* Is it a cell of the whole step, D? */
bool iteration_is_step(const struct rec_cell *cell);
