/* SPDX-License-Identifier: Apache-2.0
 *
 * A trial in one communicator, on one of its ranks. The tuner plugin feeds it NCCL's calls, and the
 * preloaded object of the price (plugins/price) those of NCCL and MPI. States, in their order:
 *   LEARN  the step is unknown; calls are not changed
 *   WARM   the step is followed for some steps; calls are not changed
 *   RUN    blocks of visits: a block visits each arm once in random order, the baseline twice. A
 *          visit applies its arm to the calls of some consecutive steps. A visit interrupted by
 *          other calls is dropped and repeated, some steps later: after such calls the host, whose
 *          clock times a visit, is for some steps faster than the GPU. After two drops of one
 *          visit, all visits get half the steps. Calls outside of steps are not changed
 *   HOLD   the blocks are over; calls are not changed until an arm to keep is named
 *   KEPT   every call gets that arm
 *   OFF    the ranks could not agree; calls are never changed again
 * All ranks must change state at the same call. So a state changes only at calls that all ranks see
 * (sequence.h), and after an agreement (agree.h). Ranks agree whether to begin, which
 * they do only if all of them found the same step at the same call; at the end of each
 * block, whether to go on; in HOLD, every few steps, which arm to keep. gradsync creates the file
 * out/stop to end the trial, and out/keep, with the number of an arm, to keep this arm.
 */
#pragma once

#include "nccl_tuner/journal.h"
#include "nccl_tuner/nccl_abi.h"
#include "nccl_tuner/sequence.h"
#include "nccl_tuner/trial_config.h"

#include <stdbool.h>
#include <stdint.h>

/* Steps between other calls and the next visit, unless other calls come more often. */
#define TRIAL_SETTLE 4

enum trial_state { TRIAL_LEARN, TRIAL_WARM, TRIAL_RUN, TRIAL_HOLD, TRIAL_KEPT, TRIAL_OFF };

struct trial {
    const struct trial_config *config;
    char comm[64]; /* the communicator's name, the same on all of its ranks */
    size_t ranks;
    bool takes_part;
    struct journal journal;
    struct sequence sequence;
    enum trial_state state;

    unsigned number,
        tries;         /* number of the step; how often the ranks were asked whether to begin */
    uint64_t found_at; /* call */
    uint32_t step_hash;
    uint64_t warm_steps, warm_from_ns;

    uint64_t steps; /* a visit */
    uint64_t block, begun_ns;
    uint64_t blocks;                     /* that were completed since the step was found */
    size_t visit, order[TRIAL_ARMS + 1]; /* number of arms: the baseline's second copy */
    bool visiting;
    uint64_t at_ns[TRIAL_STEPS + 1], n_at;
    uint64_t taken[NCCL_PAIRS], unavailable, visit_calls;
    uint32_t ran[NCCL_PAIRS][NCCL_MAX_CHANNELS + 1]; /* of a visit; 0 channels: not reported */
    uint64_t parts[CHOICE_PARTS];                    /* of a visit: calls, with trial_part */
    unsigned in_a_row;                               /* drops of the current visit */
    unsigned settle, settling; /* steps between other calls and a visit; those left of them */

    uint64_t held_steps, next_keep;
    unsigned asked_keep;
    size_t kept;

    uint64_t calls, bytes, visits, dropped, last_call_ns, captured;
};

/* `id`: equal on all ranks of the communicator, and different from other communicators. False: the
 * folder cannot be written (errno); the communicator is then not changed. */
bool trial_begin(struct trial *t, const struct trial_config *c, const char *id, size_t ranks,
                 size_t nodes, int abi);
/* A name for a communicator whose library gives none: its number in its order among those of the same
 * size (and rank, -1: unknown). If ranks create them in different orders, the ranks do not find the same
 * step at the same call, and there is no trial. One thread at a time. */
void trial_name(char *id, size_t n, size_t ranks, int rank);
/* One line on stderr, from the first rank of a host. */
void trial_complain(const char *who, const char *why, const char *effect);
/* The next call of the communicator: its arm, or TRIAL_UNCHANGED. */
#define TRIAL_UNCHANGED (-1)
int trial_next(struct trial *t, int func, size_t bytes);
/* For the tuner. True: an arm was applied. False: the call is not changed. */
bool trial_call(struct trial *t, const struct call *call);
/* For the price (plugins/price): how much of the call to communicate. Smaller calls decide what the job does
 * next (is the loss finite?), and are always whole. */
#define TRIAL_PART_LEAST 65536
enum choice_part trial_part(struct trial *t, int func, size_t bytes);
/* What NCCL reports (profiler.h): the pair (choice_taken) and channels that a call ran; a call that
 * went into a CUDA graph. */
void trial_ran(struct trial *t, int pair, int channels);
void trial_captured(struct trial *t);
void trial_end(struct trial *t);

/* ---- trial_lines.c: the lines of the log ---- */

void trial_write_comm(struct trial *t, size_t nodes, int abi);
void trial_write_step(struct trial *t);
void trial_write_begin(struct trial *t);
void trial_write_visit(struct trial *t);
void trial_write_dropped(struct trial *t);
void trial_write_captured(struct trial *t);
void trial_write_over(struct trial *t, const char *why);
void trial_write_kept(struct trial *t);
void trial_write_end(struct trial *t);

/* ---- trial_ask.c: what ranks ask each other, and what gradsync tells them (agree.h) ---- */

#define TRIAL_ANSWER 64
/* False: no agreement is possible. */
bool trial_ask(struct trial *t, const char *what, uint64_t a, uint64_t b,
               char answer[TRIAL_ANSWER]);
/* Tells the other ranks that this one found its step, which, and at which call. */
void trial_announce_step(const struct trial *t);
/* Have all ranks found this step at the same call? A rank that has not runs without the plugin, does
 * not see the folder, or sees other calls. */
bool trial_all_found_step(const struct trial *t);
/* Is the time over, or has gradsync asked for the end? */
bool trial_asked_to_stop(const struct trial *t);
/* The number of the arm that gradsync wants to keep, or "none". */
void trial_read_keep(const struct trial *t, char answer[TRIAL_ANSWER]);

/* The arm of the current visit, and which of the baseline's two copies it is. */
size_t trial_arm_now(const struct trial *t);
int trial_copy_now(const struct trial *t);
uint64_t trial_now_ns(void);
uint32_t trial_hash(const void *bytes, size_t n);
