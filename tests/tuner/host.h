/* SPDX-License-Identifier: Apache-2.0
 *
 * NCCL's part towards a tuner plugin: loads it, takes the newest symbol up to a version, and calls
 * it as NCCL does for each collective, then chooses from the cost table as NCCL does.
 */
#ifndef GS_TEST_TUNER_HOST_H
#define GS_TEST_TUNER_HOST_H

#include "nccl_tuner/nccl_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host {
    void *library;
    int abi;
    const void *symbol;
};

struct host_comm {
    const struct host *host;
    void *context;
    int ranks;
};

/* What runs: the pair with the lowest cost, the tuner's channels. */
struct ran {
    uint8_t algo, proto, channels;
};

/* False: printed why. abi: the newest that this NCCL knows, 3 to 6. */
bool host_load(struct host *h, const char *path, int abi);
void host_unload(struct host *h);
bool host_init(struct host_comm *c, const struct host *h, uint64_t id, int ranks, int nodes);
bool host_call(struct host_comm *c, int func, size_t bytes, struct ran *ran);
bool host_finalize(struct host_comm *c);

#endif
