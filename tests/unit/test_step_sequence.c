/* SPDX-License-Identifier: Apache-2.0
 *
 * The step in a sequence of calls. A letter is a call; its size follows from it.
 */
#include "common/clock.h"

#include <stdint.h>

/* A clock of its own: real pauses would depend on the load. */
static uint64_t test_ns = 1000000000000000000u;
#define now_ns() (test_ns += 1000)
#include "../../plugins/engine/sequence.c" // NOLINT(bugprone-suspicious-include)
#include "unit.h"

#include <string.h>

static size_t steps;

/* Feeds `text` `times` times; counts the beginnings of steps. */
static void feed(struct sequence *s, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        for (const char *c = text; *c; c++)
            steps += seq_call(s, seq_word(1, 0, (size_t)*c * 1000, *c == '+')) == SEQ_STEP;
}

TEST(a_step_is_found_after_its_setup_among_layers_and_logs)
{
    static const struct {
        const char *setup, *part; /* of the sequence, repeated */
        int times;
        const char *rest;
        size_t period;
    } jobs[] = {{"wxyzwvutsr", "abcdef", 1, "", 6},
                {"", "a", 24, "bcbcbcbcbcbcbcbcbcbcd", 45}, /* layers */
                {"", "abcdef", 10, "l", 6},
                {"", "abcd", 50, "l", 4}, /* buckets */
                {"", "a", 200, "l", 201}};
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        struct sequence s;
        seq_begin(&s, 0, NULL, NULL);
        feed(&s, jobs[j].setup, 1);
        for (int i = 0; i < 60; i++) {
            feed(&s, jobs[j].part, jobs[j].times);
            feed(&s, jobs[j].rest, 1);
        }
        assert_int_equal(s.period, jobs[j].period);
        seq_end(&s);
    }
}

TEST(a_log_after_ten_steps_leaves_the_step_as_it_is)
{
    struct sequence s;
    seq_begin(&s, 0, NULL, NULL);
    feed(&s, "abcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefl", 60);
    steps = 0;
    feed(&s, "abcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefl", 1);
    assert_in_range(steps, 8, 10); /* after a log, one step goes by until it is followed again */
    seq_end(&s);
}

TEST(a_step_does_not_begin_inside_a_group)
{
    struct sequence s;
    seq_begin(&s, 0, NULL, NULL);
    feed(&s, "++", 1);
    feed(&s, "+++ab", 40);
    for (int i = 0; i < 3; i++)
        assert_int_not_equal(seq_call(&s, seq_word(1, 0, '+' * 1000, true)), SEQ_STEP);
    assert_int_equal(seq_call(&s, seq_word(1, 0, 'a' * 1000, false)), SEQ_STEP);
    seq_end(&s);
}

static size_t agree(void *ctx, uint64_t call, size_t period)
{
    (void)call;
    return *(bool *)ctx ? period : 0;
}

TEST(few_calls_are_enough_only_if_they_take_long)
{
    struct sequence s;
    bool yes = true;
    seq_begin(&s, 0, agree, &yes);
    feed(&s, "ab", 8);
    assert_int_equal(s.period, 0);
    for (size_t i = 0; i < s.n; i++) /* as if each had taken a second */
        s.when_ns[i] -= (s.n - i) * 1000000000u;
    feed(&s, "ab", 4);
    assert_int_equal(s.period, 2);
    seq_end(&s);
}

/* Equal calls, `calls` a step, the first of each after a pause. */
static size_t period_of_equal(size_t calls, int steps_fed)
{
    struct sequence s;
    bool yes = true;
    seq_begin(&s, 0, agree, &yes);
    for (int i = 0; i < steps_fed; i++)
        for (size_t k = 0; k < calls; k++) {
            test_ns += k ? 50000 : calls > 1 ? 20000000 : 5000000;
            seq_call(&s, seq_word(1, 0, 1000000, false));
        }
    size_t period = s.period;
    seq_end(&s);
    return period;
}

TEST(equal_calls_are_a_step_if_a_pause_comes_before_each_of_its_first)
{
    assert_int_equal(period_of_equal(4, 90), 4);
    assert_int_equal(period_of_equal(7, 50), 7);
    assert_int_equal(period_of_equal(1, 330), 1);
}

TEST(a_number_of_calls_that_is_given_is_found_early_if_they_take_long)
{
    struct sequence s;
    bool yes = true;
    seq_begin(&s, 1, agree, &yes);
    feed(&s, "a", 5);
    for (size_t i = 0; i < s.n; i++)
        s.when_ns[i] -= (s.n - i) * 1000000000u;
    feed(&s, "a", 3);
    assert_int_equal(s.period, 1);
    seq_end(&s);
}
