/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/supervise.h"
#include "unit.h"

#include <signal.h>

#define EXITED(code) ((code) << 8)

static const struct control dead = {.event = CONTROL_DEAD,
                                    .rank = 1,
                                    .kind = "crash",
                                    .why = "killed by SIGSEGV",
                                    .host = "h",
                                    .cell = "c1",
                                    .phase = "sample"};
static const struct control beat = {.event = CONTROL_BEAT, .cell = "c2", .phase = "verify"};
static const struct control error = {
    .event = CONTROL_ERROR, .rank = 1, .why = "gradsync: no device", .code = GS_CANNOT};

static struct attempt judged(struct attempt_evidence *e)
{
    struct attempt a = {.launch = 1, .attempt = 1};
    snprintf(e->launcher, sizeof e->launcher, "mpirun");
    if (!e->log_path)
        e->log_path = "/proc/nowhere/log";
    attempt_verdict(&a, e);
    return a;
}

static void done(struct attempt_evidence *e, const char *status)
{
    e->heard = e->has_done = true;
    snprintf(e->done.status, sizeof e->done.status, "%s", status);
}

TEST(rank_0s_last_word_counts)
{
    struct attempt_evidence complete = {0}, interrupted = {0};
    done(&complete, "complete");
    done(&interrupted, "interrupted");
    assert_int_equal(judged(&complete).end, ATTEMPT_COMPLETE);
    assert_int_equal(judged(&interrupted).end, ATTEMPT_INTERRUPTED);
    complete.has_dead = true; /* after the recording was closed */
    complete.dead = dead;
    complete.status = SIGKILL;
    assert_int_equal(judged(&complete).end, ATTEMPT_COMPLETE);
}

TEST(an_error_in_words_is_not_tried_again)
{
    struct attempt_evidence e = {
        .heard = true, .has_error = true, .error = error, .status = EXITED(3)};
    done(&e, "failed"); /* rank 0 left because of rank 1 */
    struct attempt a = judged(&e);
    assert_int_equal(a.end, ATTEMPT_REFUSED);
    assert_int_equal(a.code, GS_CANNOT);
    assert_string_equal(a.why, "rank 1: no device");
    e.error.code = 0;
    assert_int_equal(judged(&e).code, GS_FAILED);
    e.has_dead = true; /* a death comes first: the error may be its consequence */
    e.dead = dead;
    assert_int_equal(judged(&e).end, ATTEMPT_DIED);
}

TEST(a_cut_network_is_named_and_costs_no_cell)
{
    struct attempt_evidence e = {.heard = true, .has_beat = true, .beat = beat, .status = SIGKILL};
    cut_add(e.cut, "north", "south ");
    cut_add(e.cut, "south", "east north ");
    e.has_dead = true; /* of a rank that the library ended because of it */
    e.dead = dead;
    struct attempt a = judged(&e);
    assert_int_equal(a.end, ATTEMPT_DIED);
    assert_true(a.cut);
    assert_string_equal(a.kind, "lost");
    assert_string_equal(a.why,
                        "no answer between north and south; no answer between east and south");
    assert_string_equal(e.dead.cell, "");
    done(&e, "complete"); /* it came too late to lose anything */
    assert_int_equal(judged(&e).end, ATTEMPT_COMPLETE);
}
