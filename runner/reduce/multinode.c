/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/multinode.h"

#include "base/text.h"
#include "reduce/nccl_sections.h"

#include <math.h>

#define LEAST_B 0.1e9 /* a smaller payload would be printed as 0.0GB */

void multinode_see(struct multinode *m, const struct recorded *r, const struct series *s,
                   const struct summary *summary)
{
    const struct rec_cell *cell = &r->cells[s->cell];
    double size_B = (double)cell->size_B;
    if (nccl_sections_collective(cell) != COLLECTIVE_ALLREDUCE || r->nodes < 2 ||
        size_B < LEAST_B || size_B <= m->size_B || !(summary->busbw > 0) ||
        !isfinite(summary->algbw))
        return;
    *m = (struct multinode){.size_B = size_B,
                            .algbw = summary->algbw,
                            .busbw = summary->busbw,
                            .trials = s->n_samples,
                            .ranks = (long long)r->ranks};
}

char *multinode_text(const struct multinode *m)
{
    if (!(m->size_B > 0))
        return NULL;
    return xstrfmt("The median bandwidth of all_reduce with a %.1fGB payload (%zu trials, %lld "
                   "ranks):\n algbw: %.3f GBps (%.1f Gbps)\n busbw: %.3f GBps (%.1f Gbps)\n",
                   m->size_B * 1e-9, m->trials, m->ranks, m->algbw * 1e-9, m->algbw * 8e-9,
                   m->busbw * 1e-9, m->busbw * 8e-9);
}
