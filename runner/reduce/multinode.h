/* SPDX-License-Identifier: Apache-2.0
 *
 * The usual summary of a multi-node all-reduce, printed after the table of a run on several nodes:
 *   The median bandwidth of all_reduce with a 4.0GB payload (50 trials, 16 ranks):
 *    algbw: 239.742 GBps (1917.9 Gbps)
 *    busbw: 449.515 GBps (3596.1 Gbps)
 */
#pragma once

#include "reduce/gather.h"
#include "reduce/summary.h"

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
