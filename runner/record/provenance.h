/* SPDX-License-Identifier: Apache-2.0
 *
 * What a recording says about where it comes from. No secret of the environment may be in it.
 */
#ifndef GS_PROVENANCE_H
#define GS_PROVENANCE_H

#include "plan/plan.h"

#include <jansson.h>
#include <stddef.h>

/* The header line without what only the ranks know (clock, mpi, hosts). `dir` is the run folder:
 * its name is the run's. */
json_t *provenance_header(const struct plan *p, const char *dir, int launch, int attempt);

/* {rank, host, cpu, cores, kernel, memory_B} of this process. */
json_t *provenance_host(int rank);

/* The variables that tune communication: NCCL_*, OMPI_* and UCX_*, but not what a launcher tells
 * its processes about themselves (addresses, job ids), and "(hidden)" for the value of one whose
 * name speaks of a key, token, secret or password. `environment` is NULL-terminated. */
json_t *provenance_env(char *const *environment);

/* RFC 3339, UTC: "2025-01-31T12:00:00Z". */
const char *provenance_time(char *buf, size_t n);

#endif
