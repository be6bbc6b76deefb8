/* SPDX-License-Identifier: Apache-2.0
 *
 * Tuning rules from a file in the format of NVIDIA's example tuner, one per line:
 *   collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks[,numPipeOps[,regBuff]]
 * '#' begins a comment line. The first rule that matches and whose algorithm and protocol are
 * available is applied. A call without one is left to NCCL. -1 means any nNodes, nRanks, numPipeOps
 * and regBuff; no upper limit as max_bytes; and NCCL's own choice as channels, algorithm or protocol:
 * "allreduce,0,-1,-1,-1,8,-1,-1" limits the channels alone. (NVIDIA's reader has no such algorithm and
 * protocol.) An empty field is an error, because NVIDIA's reader would shift the fields after it.
 * Sizes are in bytes, as NCCL counts them: for all-gather and reduce-scatter the sum over all ranks.
 */
#pragma once

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
