/* SPDX-License-Identifier: Apache-2.0
 *
 * What the price needs of NCCL.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nccl_result { NCCL_SUCCESS = 0 };

enum nccl_func {
    NCCL_BROADCAST,
    NCCL_REDUCE,
    NCCL_ALL_GATHER,
    NCCL_REDUCE_SCATTER,
    NCCL_ALL_REDUCE,
    /* The tuner is not asked about these; only the price sees them. */
    NCCL_ALL_TO_ALL,
    NCCL_SEND_RECV
};
#define NCCL_FUNCS 7

enum nccl_algo {
    NCCL_TREE,
    NCCL_RING,
    NCCL_COLLNET_DIRECT,
    NCCL_COLLNET_CHAIN,
    NCCL_NVLS,
    NCCL_NVLS_TREE,
    NCCL_PAT
};
#define NCCL_ALGOS 7

enum nccl_proto { NCCL_LL, NCCL_LL128, NCCL_SIMPLE };
#define NCCL_PROTOS 3
#define NCCL_PAIRS (NCCL_ALGOS * NCCL_PROTOS)

#define NCCL_MAX_CHANNELS 64
