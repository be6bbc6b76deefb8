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

TEST(a_rank_that_died_is_told_as_it_was)
{
    struct attempt_evidence e = {
        .heard = true, .has_dead = true, .dead = dead, .status = EXITED(1)};
    struct attempt a = judged(&e);
    assert_int_equal(a.end, ATTEMPT_DIED);
    assert_string_equal(a.kind, "crash");
    assert_string_equal(a.cell, "c1");
    assert_string_equal(a.why, "killed by SIGSEGV (rank 1 on h)");
    e.interrupted = true;
    assert_int_equal(judged(&e).end, ATTEMPT_DIED);
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

TEST(an_interrupted_launcher_is_no_death)
{
    struct attempt_evidence e = {.interrupted = true, .status = SIGKILL};
    assert_int_equal(judged(&e).end, ATTEMPT_INTERRUPTED);
}

TEST(a_killed_launcher_loses_the_last_cell)
{
    struct attempt_evidence e = {.heard = true, .has_beat = true, .beat = beat, .status = SIGKILL};
    struct attempt a = judged(&e);
    assert_int_equal(a.end, ATTEMPT_DIED);
    assert_string_equal(a.kind, "lost");
    assert_string_equal(a.cell, "c2");
    assert_string_equal(a.why, "mpirun was killed by signal 9 (Killed)");
    assert_int_equal(e.dead.rank, -1);
    assert_string_equal(e.dead.phase, "verify");
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

TEST(silence_is_a_hang)
{
    struct attempt_evidence e = {.heard = true,
                                 .beat = beat,
                                 .given_up = "no message from the ranks for 40 s",
                                 .status = SIGKILL};
    struct attempt a = judged(&e);
    assert_string_equal(a.kind, "hang");
    assert_string_equal(a.why, "no message from the ranks for 40 s");
}

TEST(a_launcher_that_starts_nothing_is_quoted)
{
    char path[] = "/tmp/gradsync-judge-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    dprintf(fd, "-----\n  There are not enough\nslots.\n\nMore.\n-----\n");
    close(fd);
    struct attempt_evidence e = {.status = EXITED(1), .log_path = path};
    struct attempt a = judged(&e);
    unlink(path);
    assert_int_equal(a.end, ATTEMPT_REFUSED);
    assert_int_equal(a.code, GS_CANNOT);
    assert_string_equal(a.why, "mpirun ended with code 1 before the ranks finished: There are not "
                               "enough slots.");
    e.heard = true; /* ranks were there: they are lost */
    assert_int_equal(judged(&e).end, ATTEMPT_DIED);
}

TEST(more_hosts_than_it_keeps_are_dropped)
{
    char cut[CUT_MAX] = "", name[80];
    for (int i = 0; i < CUT_MAX; i++) {
        snprintf(name, sizeof name, "h%d", i);
        cut_add(cut, name, "south ");
    }
    assert_true(strlen(cut) == CUT_MAX - 1 &&
                !strncmp(cut, "no answer between h0 and south; ", 32));
}
