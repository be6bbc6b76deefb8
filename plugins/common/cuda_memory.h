/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory that NCCL may be told of: allocated by CUDA or by NCCL, and registered with a
 * communicator.
 */
#pragma once

#include "common/cuda_comm.h"

/* PLAIN is from cudaMalloc, the others from ncclMemAlloc. REGISTERED: ncclCommRegister (2.19).
 * SYMMETRIC: ncclCommWindowRegister (2.27). NCCL: registered by NCCL when it captures a graph. */
enum memory { MEMORY_PLAIN, MEMORY_REGISTERED, MEMORY_SYMMETRIC, MEMORY_NCCL };

/* WL_SKIP: out of memory, or NCCL lacks the function; `why` says so. */
enum wl_status memory_alloc(struct comms *c, void **base, size_t bytes, bool from_nccl, char *why,
                            size_t n);
void memory_free(struct comms *c, void *base, bool from_nccl);

/* Registers with the communicator as `memory` says; does nothing for PLAIN and NCCL. Collective. */
enum wl_status memory_register(struct comms *c, struct comm *comm, enum memory memory, void *base,
                               size_t bytes, void **registration, char *why, size_t n);
void memory_unregister(struct comms *c, struct comm *comm, enum memory memory, void **registration);
