/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_tuner/trial.h"

#include "common/rng.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS_LEAST 4 /* a visit: the first is thrown away */
#define WARM_LEAST 3  /* to know how long a step takes */
#define DROPS 2       /* of one visit in a row, before visits get shorter */
#define TRIES 16      /* questions whether to begin */
#define KEEP_EVEN 64  /* questions which arm to keep, one a visit's steps; then ever more rarely */

uint64_t trial_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

size_t trial_arm_now(const struct trial *t)
{
    size_t i = t->order[t->visit];
    return i == t->config->n_arms ? 0 : i;
}

int trial_copy_now(const struct trial *t)
{
    return t->order[t->visit] == t->config->n_arms;
}

/* ---- visits ---- */

static void over(struct trial *t, enum trial_state state, const char *why)
{
    t->state = state;
    t->visiting = false;
    t->held_steps = 0;
    t->next_keep = t->steps;
    trial_write_over(t, why);
}

static void begin_visit(struct trial *t, uint64_t now)
{
    memset(t->taken, 0, sizeof t->taken);
    memset(t->ran, 0, sizeof t->ran);
    memset(t->parts, 0, sizeof t->parts);
    t->unavailable = t->visit_calls = 0;
    t->at_ns[0] = now;
    t->n_at = 1;
    t->visiting = true;
}

static void begin_block(struct trial *t)
{
    struct rng r;
    for (size_t i = 0; i <= t->config->n_arms; i++)
        t->order[i] = i;
    rng_stream(&r, t->config->seed, t->block);
    rng_shuffle(&r, t->order, t->config->n_arms + 1);
    t->visit = 0;
}

/* False: the trial is over. */
static bool end_block(struct trial *t)
{
    char answer[TRIAL_ANSWER];
    t->block++;
    if (++t->blocks == t->config->blocks) {
        over(t, TRIAL_HOLD, "blocks");
        return false;
    }
    strcpy(answer, trial_asked_to_stop(t) ? "stop" : "go");
    if (!trial_ask(t, "block", t->number, t->block, answer)) {
        over(t, TRIAL_OFF, "the ranks cannot agree");
        return false;
    }
    if (strcmp(answer, "go")) {
        over(t, TRIAL_HOLD, "stop");
        return false;
    }
    begin_block(t);
    return true;
}

static void run_step(struct trial *t, uint64_t now)
{
    if (!t->visiting) {
        if (t->settling)
            t->settling--;
        else
            begin_visit(t, now);
        return;
    }
    t->at_ns[t->n_at++] = now;
    if (t->n_at <= t->steps)
        return;
    trial_write_visit(t);
    t->visits++;
    t->in_a_row = 0;
    if (++t->visit <= t->config->n_arms || end_block(t))
        begin_visit(t, now);
}

static void drop_visit(struct trial *t)
{
    if (t->state != TRIAL_RUN)
        return;
    if (t->settling)
        t->settle /= 2; /* other calls come more often than that */
    t->settling = t->settle;
    if (!t->visiting)
        return;
    trial_write_dropped(t);
    t->dropped++;
    t->visiting = false;
    if (++t->in_a_row < DROPS || t->steps / 2 < STEPS_LEAST)
        return;
    /* The job interrupts its steps more often than a visit takes: shorter visits, in a new block.
     */
    t->in_a_row = 0;
    t->steps /= 2;
    t->block++;
    begin_block(t);
    trial_write_begin(t);
}

/* ---- the other states ---- */

static uint64_t steps_a_visit(const struct trial *t, uint64_t now)
{
    if (t->config->steps)
        return t->config->steps < STEPS_LEAST ? STEPS_LEAST : t->config->steps;
    uint64_t step_ns = (now - t->warm_from_ns) / (t->warm_steps - 1);
    uint64_t steps = t->config->visit_s * 1000000000u / (step_ns ? step_ns : 1) + 1;
    steps = steps < STEPS_LEAST ? STEPS_LEAST : steps;
    return steps > TRIAL_STEPS ? TRIAL_STEPS : steps;
}

static void ask_begin(struct trial *t, uint64_t now)
{
    char answer[TRIAL_ANSWER], *end;
    if (trial_all_found_step(t))
        snprintf(answer, sizeof answer, "%llu", (unsigned long long)steps_a_visit(t, now));
    else
        strcpy(answer, "wait");
    if (!trial_ask(t, "begin", t->number, t->tries, answer)) {
        over(t, TRIAL_OFF, "the ranks cannot agree");
        return;
    }
    t->warm_steps = 0;
    uint64_t steps = strtoull(answer, &end, 10);
    if (!isdigit((unsigned char)*answer) || *end || steps < STEPS_LEAST || steps > TRIAL_STEPS) {
        if (++t->tries == TRIES)
            over(t, TRIAL_OFF, "the ranks did not find the same step");
        return;
    }
    t->steps = steps;
    t->state = TRIAL_RUN;
    t->begun_ns = t->begun_ns ? t->begun_ns : now;
    begin_block(t);
    trial_write_begin(t);
    begin_visit(t, now);
}

static void warm_step(struct trial *t, uint64_t now)
{
    uint64_t warmup = t->config->warmup > WARM_LEAST ? t->config->warmup : WARM_LEAST;
    if (t->warm_steps++ == 0)
        t->warm_from_ns = now;
    if (t->warm_steps > warmup)
        ask_begin(t, now);
}

static void hold_step(struct trial *t)
{
    char answer[TRIAL_ANSWER];
    if (++t->held_steps < t->next_keep)
        return;
    t->next_keep += t->asked_keep < KEEP_EVEN ? t->steps : t->held_steps;
    trial_read_keep(t, answer);
    if (!trial_ask(t, "keep", 0, t->asked_keep++, answer)) {
        over(t, TRIAL_OFF, "the ranks cannot agree");
    } else if (isdigit((unsigned char)*answer)) {
        t->kept = strtoul(answer, NULL, 10) % t->config->n_arms;
        t->state = TRIAL_KEPT;
        trial_write_kept(t);
    }
}

static void found(struct trial *t)
{
    drop_visit(t);
    t->number++;
    t->found_at = t->calls;
    t->step_hash = trial_hash(t->sequence.pattern, t->sequence.period * sizeof(uint64_t));
    trial_write_step(t);
    trial_announce_step(t);
    if (t->state == TRIAL_RUN)
        t->block++;
    if (t->state != TRIAL_HOLD)
        t->state = TRIAL_WARM;
    t->warm_steps = t->tries = 0;
    t->blocks = 0;
}

static void step(struct trial *t)
{
    uint64_t now = trial_now_ns();
    t->last_call_ns = now;
    if (t->state == TRIAL_WARM)
        warm_step(t, now);
    else if (t->state == TRIAL_RUN)
        run_step(t, now);
    else
        hold_step(t);
}

/* ---- calls ---- */

int trial_next(struct trial *t, int func, size_t bytes)
{
    enum seq_event event;
    t->calls++;
    t->bytes += bytes;
    if (t->state == TRIAL_KEPT)
        return (int)t->kept;
    if (t->state == TRIAL_OFF || !t->takes_part)
        return TRIAL_UNCHANGED;
    event = seq_call(&t->sequence, func, bytes);
    if (event <= SEQ_LOST)
        t->last_call_ns = trial_now_ns();
    if (event == SEQ_FOUND)
        found(t);
    else if (event == SEQ_LOST)
        drop_visit(t);
    else if (event == SEQ_STEP)
        step(t);
    if (t->state == TRIAL_KEPT)
        return (int)t->kept;
    if (!t->visiting || (event != SEQ_STEP && event != SEQ_INSIDE))
        return TRIAL_UNCHANGED;
    t->visit_calls++;
    return (int)trial_arm_now(t);
}

bool trial_call(struct trial *t, const struct call *call)
{
    int arm = trial_next(t, call->func, call->bytes);
    if (arm == TRIAL_UNCHANGED)
        return false;
    bool applied = choice_limit(&t->config->arms[arm].choice, call) && arm != 0;
    if (t->visiting) {
        int taken = choice_taken(call);
        t->unavailable += arm != 0 && !applied;
        if (taken >= 0)
            t->taken[taken]++;
    }
    return applied;
}

enum choice_part trial_part(struct trial *t, int func, size_t bytes)
{
    int arm = trial_next(t, func, bytes);
    enum choice_part part = PART_ALL;
    if (arm != TRIAL_UNCHANGED && bytes >= TRIAL_PART_LEAST)
        part = t->config->arms[arm].choice.part;
    if (arm != TRIAL_UNCHANGED && t->visiting)
        t->parts[part]++;
    return part;
}

/* NCCL reports a call after it has asked about it, and the calls of a group after it has asked about
 * all of them. So calls of another visit are only among those reported in the first step. */
void trial_ran(struct trial *t, int pair, int channels)
{
    if (t->visiting && t->n_at > 1 && channels >= 0 && channels <= NCCL_MAX_CHANNELS)
        t->ran[pair][channels]++;
}

void trial_captured(struct trial *t)
{
    if (t->captured++ == 0)
        trial_write_captured(t);
}
