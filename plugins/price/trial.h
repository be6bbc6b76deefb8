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
 * (trial_config.h), and after an agreement (agree). Ranks agree whether to begin, which
 * they do only if all of them found the same step at the same call; at the end of each
 * block, whether to go on; in HOLD, every few steps, which arm to keep. gradsync creates the file
 * out/stop to end the trial, and out/keep, with the number of an arm, to keep this arm.
 */
#pragma once

#include "price/nccl_abi.h"
#include "price/trial_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of the NCCL in this process, as ncclGetVersion() gives it (22809 is 2.28.9); 0: it is
 * linked into the program in a way that hides it. */
int nccl_version(void);

struct journal {
    int fd; /* -1: closed */
    char name[320];
};

/* Creates the file. False, errno says why. */
bool journal_open(struct journal *j, const char *out, const char *comm);
void journal_close(struct journal *j);

/* Writes a line, and the newline. */
void journal_line(struct journal *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

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
/* A name for a communicator whose library gives none: its number in its order among those of the
 * same size (and rank, -1: unknown). If ranks create them in different orders, the ranks do not
 * find the same step at the same call, and there is no trial. One thread at a time. */
void trial_name(char *id, size_t n, size_t ranks, int rank);
/* One line on stderr, from the first rank of a host. */
void trial_complain(const char *who, const char *why, const char *effect);
/* For the price (plugins/price): how much of the call to communicate. Smaller calls decide what the
 * job does next (is the loss finite?), and are always whole. */
#define TRIAL_PART_LEAST 65536
enum choice_part trial_part(struct trial *t, int func, size_t bytes);
/* What NCCL reports: the pair (choice_taken) and channels that a call ran; a call that
 * went into a CUDA graph. */
void trial_ran(struct trial *t, int pair, int channels);
void trial_captured(struct trial *t);
void trial_end(struct trial *t);

void trial_write_end(struct trial *t);

uint32_t trial_hash(const void *bytes, size_t n);
