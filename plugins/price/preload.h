/* SPDX-License-Identifier: Apache-2.0
 *
 * What communication costs a job: an object for LD_PRELOAD that leaves collectives out of NCCL and MPI, or
 * makes them smaller. Steps, blocks, visits, agreement and log are those of a trial
 *. It changes a call only if one of these variables is set:
 *   GRADSYNC_PRICE      a trial's file (trial_config.h) with the arms auto, none, one, half
 *   GRADSYNC_PRICE_ARM  an arm for the whole process, also inside CUDA graphs. Calls before the first
 *                       large reduction or gather are whole: they set the job up
 * A call that is left out returns at once. Small calls are always whole (trial_part). Results are
 * worthless: the job must be one that is thrown away.
 */
#pragma once

#include "common/choice.h"
#include "price/nccl_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A communicator on one rank. */
struct price_comm;

/* What the part for NCCL or MPI knows about a communicator. */
struct price_about {
    int ranks, rank;
    int nccl;    /* version; 0: MPI */
    char id[48]; /* equal on all ranks; empty: number them (trial_name) */
};

/* Does any variable ask for something? */
bool price_on(void);
/* The communicator with this handle. If it is new, `about` is called, which returns false if the
 * communicator cannot be used yet. NULL: its calls are not changed. */
struct price_comm *price_comm(uintptr_t handle, bool (*about)(uintptr_t, struct price_about *));
int price_rank(const struct price_comm *c);
int price_ranks(const struct price_comm *c);
/* How much of the next call to communicate. captured: it goes into a CUDA graph, which a trial does not
 * change. */
enum choice_part price_part(struct price_comm *c, enum nccl_func func, size_t bytes, bool captured);
/* The job destroys it. */
void price_forget(uintptr_t handle);

static inline size_t price_count(enum choice_part part, size_t count)
{
    return part == PART_ALL ? count : part == PART_HALF ? count / 2 : part == PART_ONE;
}

/* A function of a shared object that is loaded, by one of its names; else of the objects after this
 * one. *known keeps it. There is none: ends the process, and says what it lacks; lack NULL: NULL. */
void *price_real(void **known, const char *const *objects, const char *symbol, const char *lack);
