/* SPDX-License-Identifier: Apache-2.0
 *
 * The provenance in a recording's header. It must hold no secret of the environment.
 */
#pragma once

#include "plan/plan.h"

#include <jansson.h>
#include <stddef.h>

/* The header line without clock, mpi and hosts, which only the ranks know. The name of `dir`, the run
 * folder, is the run id. */
json_t *provenance_header(const struct plan *p, const char *dir, int launch, int attempt);

/* {rank, host, cpu, cores, kernel, memory_B} of this process. */
json_t *provenance_host(int rank);

/* The variables that tune communication: NCCL_*, OMPI_* and UCX_*. It leaves out the addresses and
 * job ids that a launcher passes to its processes. A variable named after a key, token, secret or
 * password has the value "(hidden)". `environment` is NULL-terminated. */
json_t *provenance_env(char *const *environment);

/* RFC 3339, UTC: "2025-01-31T12:00:00Z". */
const char *provenance_time(char *buf, size_t n);
