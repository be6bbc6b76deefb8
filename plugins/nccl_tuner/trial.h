/* SPDX-License-Identifier: Apache-2.0
 *
 * A trial in one communicator, as one of its ranks takes part in it. States, in their order:
 *   LEARN  the step is not known; calls are left alone
 *   WARM   it is followed for some steps; calls are left alone
 *   RUN    blocks of visits: a block visits each arm once in random order, the baseline twice; a
 *          visit gives its arm to the calls of some consecutive steps. A visit that other calls
 *          interrupt is dropped and made again; after two drops of one visit all get half the
 * steps. Calls outside of steps are left alone HOLD   the blocks are over; calls are left alone
 * until an arm to keep is named KEPT   every call gets that arm OFF    the ranks could not agree;
 * calls are left alone for good The state changes only at calls that all ranks have in common
 * (sequence.h), and by answers that all of them share (agree.h): whether to begin, at each block's
 * end whether to go on, while holding every so many steps which arm to keep. gradsync asks for an
 * end by the file out/stop, and for an arm by out/keep, which holds its number.
 */
#ifndef GS_TUNER_TRIAL_H
#define GS_TUNER_TRIAL_H

#include "nccl_tuner/journal.h"
#include "nccl_tuner/nccl_abi.h"
#include "nccl_tuner/sequence.h"
#include "nccl_tuner/trial_config.h"

#include <stdbool.h>
#include <stdint.h>

enum trial_state { TRIAL_LEARN, TRIAL_WARM, TRIAL_RUN, TRIAL_HOLD, TRIAL_KEPT, TRIAL_OFF };

struct trial {
    const struct trial_config *config;
    char comm[64]; /* the communicator's name, the same on all of its ranks */
    size_t ranks;
    bool takes_part;
    struct journal journal;
    struct sequence sequence;
    enum trial_state state;

    unsigned number, tries; /* of the step; questions whether to begin */
    uint64_t warm_steps, warm_from_ns;

    uint64_t steps; /* a visit */
    uint64_t block, begun_ns;
    uint64_t blocks;                     /* that were completed since the step was found */
    size_t visit, order[TRIAL_ARMS + 1]; /* number of arms: the baseline's second copy */
    bool visiting;
    uint64_t at_ns[TRIAL_STEPS + 1], n_at;
    uint64_t taken[NCCL_ALGOS * NCCL_PROTOS], unavailable, visit_calls;
    unsigned in_a_row; /* drops of the current visit */

    uint64_t held_steps, next_keep;
    unsigned asked_keep;
    size_t kept;

    uint64_t calls, bytes, visits, dropped, last_call_ns;
};

/* `id`: the same on all ranks of the communicator and on no other's. False: the folder cannot be
 * written to, errno says why; the communicator is then left alone. */
bool trial_begin(struct trial *t, const struct trial_config *c, const char *id, size_t ranks,
                 size_t nodes, int abi);
/* True: an arm was applied. False: the call is as it would be without the trial. */
bool trial_call(struct trial *t, const struct call *call);
void trial_end(struct trial *t);

/* ---- trial_lines.c: what is written ---- */

void trial_write_comm(struct trial *t, size_t nodes, int abi);
void trial_write_step(struct trial *t);
void trial_write_begin(struct trial *t);
void trial_write_visit(struct trial *t);
void trial_write_dropped(struct trial *t);
void trial_write_over(struct trial *t, const char *why);
void trial_write_kept(struct trial *t);
void trial_write_end(struct trial *t);

/* The arm of the current visit, and which of the baseline's two copies it is. */
size_t trial_arm_now(const struct trial *t);
int trial_copy_now(const struct trial *t);
uint64_t trial_now_ns(void);

#endif
