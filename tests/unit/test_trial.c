/* SPDX-License-Identifier: Apache-2.0
 *
 * What `gradsync trial` prints of its visits, and `gradsync compare` of the recording of the same
 * visits.
 */
#include "base/err.h"
#include "compare/within_run.h"
#include "trial/trial_recording.h"
#include "trial/trial_result.h"

#include "folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCKS = 8, VISITS = 3 };

/* ctas=8 takes 3% more than auto; auto's second visit takes 2% more than its first one, and is
 * missing in block 5. */
static size_t make_block(struct trial_visit *v, int block, json_t *none)
{
    static const double factor[VISITS] = {1, 1.02, 1.03};
    size_t n = 0;
    for (int k = 0; k < VISITS; k++) {
        if (k == 1 && block == 5)
            continue;
        double ns = 1e7 * factor[k] * (1 + 0.002 * ((3 * block + 5 * k) % 7));
        v[n++] = (struct trial_visit){.step = 1,
                                      .block = block,
                                      .copy = k == 1,
                                      .steps = 11,
                                      .calls = 55,
                                      .ranks = 2,
                                      .arm = (char *)(k == 2 ? "ctas=8" : "auto"),
                                      .most_ns = (uint64_t)ns * 10,
                                      .least_ns = (uint64_t)ns * 9,
                                      .taken = none,
                                      .ran = none};
    }
    return n;
}

/* A recording whose launches have one of the blocks each: a block stands for a launch in what a trial
 * prints. */
static void record(const char *dir, struct trial_comm c)
{
    char *command[] = {(char *)"job", NULL};
    struct trial_visit *all = c.visits, *end = all + c.n;
    assert_int_equal(mkdir(dir, 0777), 0);
    for (int launch = 1; launch <= BLOCKS; launch++) {
        struct trial_source s = {.platform = "made",
                                 .dir = dir,
                                 .command = command,
                                 .seed = 1,
                                 .launch = launch,
                                 .complete = true};
        for (c.n = 0; c.visits + c.n < end && c.visits[c.n].block == c.visits->block;)
            c.n++;
        assert_int_equal(trial_recording_write(&c, &s), GS_OK);
        c.visits += c.n;
    }
}

static const struct effect *effect_of(const struct comparison *c, const char *config)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->v[i].config, config))
            return &c->v[i].effect;
    fail_msg("no contrast of %s", config);
    return NULL;
}

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("got %.9f, want %.9f within %g", got, want, tolerance);
}

static void compare_repeats_what_the_trial_printed(void **state)
{
    const char *dir = folder_path(*state, "20261123T000000Z-0001");
    json_t *none = json_object();
    struct trial_visit visits[BLOCKS * VISITS];
    struct trial_comm c = {.name = (char *)"comm",
                           .ranks = 2,
                           .nodes = 1,
                           .step_calls = 5,
                           .step_bytes = 4096,
                           .visits = visits};
    for (int block = 0; block < BLOCKS; block++)
        c.n += make_block(visits + c.n, block, none);
    struct trial_verdict *printed;
    size_t n = trial_verdicts(&printed, &c, CONTRAST_DRAWS), arm = 0;
    while (arm < n && printed[arm].copy)
        arm++;
    assert_true(arm < n);

    struct comparison one = {0}, other = {0};
    record(dir, c);
    assert_int_equal(compare_within_run(&one, dir, NULL, NULL), GS_OK);
    comparison_solve(&one, 1);
    const struct effect *e = effect_of(&one, "ctas=8"), *want = &printed[arm].effect;
    assert_int_equal(e->launches, BLOCKS);
    near(e->value, want->value, 1e-9);
    near(e->se, want->se, 1e-9);
    near(e->lo, want->lo, 0.15 * want->se); /* other random draws */
    near(e->hi, want->hi, 0.15 * want->se);

    near(one.v[0].floor, fabs(printed[1 - arm].effect.value), 1e-9);

    assert_int_equal(compare_within_run(&other, dir, NULL, "ctas=8"), GS_OK);
    comparison_solve(&other, 1);
    near(effect_of(&other, "auto")->value, -want->value, 1e-9);
    comparison_free(&one);
    comparison_free(&other);
    free(printed);
    json_decref(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(compare_repeats_what_the_trial_printed, folder_set_up,
                                        folder_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
