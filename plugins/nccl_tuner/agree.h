/* SPDX-License-Identifier: Apache-2.0
 *
 * Agreement between the ranks of a communicator on facts that the sequence of calls does not give:
 * whether all ranks are here, whether time is up, which arm to keep. NCCL hangs or corrupts data if
 * ranks choose differently, so no rank may act on something that only it has seen.
 *
 * Each question has a key, and every rank asks it at the same call. The first rank answers: it
 * creates the symbolic link out/agree/COMM.KEY, whose target is its answer. This is one atomic
 * operation, also on a shared file system, and fails if the link exists. Every rank, also the
 * first, then reads the answer from the link. A rank that can neither create nor read the link gets
 * no answer, and must not change the calls.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* `answer` holds this rank's proposal, and afterwards the common answer. False: there is none. */
bool agree(const char *out, const char *comm, const char *key, char *answer, size_t n);
/* Number of answers whose key begins with `prefix`. */
size_t agree_count(const char *out, const char *comm, const char *prefix);
