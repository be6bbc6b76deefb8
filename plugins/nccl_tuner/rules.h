/* SPDX-License-Identifier: Apache-2.0
 *
 * Tuning rules from a file in the form of NVIDIA's example tuner, a line each:
 *   collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks[,numPipeOps[,regBuff]]
 * '#' begins a comment line. The first rule that matches and whose algorithm and protocol are
 * available is applied; a call without one is left to NCCL. -1 stands for any nNodes, nRanks,
 * numPipeOps and regBuff, for no upper limit as max_bytes, and for NCCL's own choice as channels,
 * and also as algorithm or protocol: "allreduce,0,-1,-1,-1,8,-1,-1" limits the channels alone.
 * NVIDIA's reader has no word for that; an empty field is an error, since that reader shifts the
 * fields after it. Sizes are in bytes, as NCCL counts them: of all-gather and reduce-scatter over
 * all ranks.
 */
#ifndef GS_TUNER_RULES_H
#define GS_TUNER_RULES_H

#include "nccl_tuner/choice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rule {
    int func;
    uint64_t min, max;
    struct choice choice;
    int nodes, ranks, pipe_ops, reg_buff; /* -1: any */
};

struct rules {
    struct rule *v;
    size_t n;
};

/* False, and no rules: `why` is "FILE:LINE: what is wrong". */
bool rules_load(struct rules *r, const char *path, char *why, size_t n);
void rules_free(struct rules *r);
/* The rule that was applied; NULL: none, nothing was changed. */
const struct rule *rules_apply(const struct rules *r, const struct call *call);

#endif
