/* SPDX-License-Identifier: Apache-2.0
 *
 * How the ranks of a communicator agree on what the sequence of calls cannot tell them: whether all
 * of them are here, whether time is up, which arm to keep. NCCL hangs or corrupts data when ranks
 * choose differently, so no rank may act on what only it has seen.
 *
 * Each question has a key, and is asked by every rank at the same call. The first to come answers:
 * it makes the symbolic link out/agree/COMM.KEY, whose target is its answer. That is one atomic
 * operation, on a shared file system too, and fails when the link is there. Everyone, the first
 * included, then takes the answer that the link holds. A rank that can neither make nor read it
 * gets none, and must leave the calls alone.
 */
#ifndef GS_TUNER_AGREE_H
#define GS_TUNER_AGREE_H

#include <stdbool.h>
#include <stddef.h>

/* `answer` is what this rank proposes, and then what all have agreed on. */
bool agree(const char *out, const char *comm, const char *key, char *answer, size_t n);

#endif
