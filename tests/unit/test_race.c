/* SPDX-License-Identifier: Apache-2.0
 *
 * The race of tune: simulated jobs whose truth is known.
 */
#include "job/race.h"
#include "unit.h"

enum { SETTINGS = 14, ROUNDS = 3, LAUNCHES = 4 };
#define WORTH 0.01

/* A job: truth[i] is the logarithm of its step with setting i, against the baseline. */
struct job {
    double truth[SETTINGS + 1], sd;
    int weight[SETTINGS + 1];
    struct rng rng;
};

static double launch_s(struct job *j, size_t i)
{
    return 0.1 * exp(j->truth[i] + j->sd * rng_normal(&j->rng));
}

static size_t race_of(struct job *j, struct race *r)
{
    race_begin(r, WORTH, LAUNCHES);
    for (size_t i = 1; i <= SETTINGS; i++)
        race_enter(r, j->weight[i]);
    for (int round = 0; round < ROUNDS && !(round && race_decided(r)); round++) {
        for (size_t i = 0; i < r->n; i++)
            if (!i || !r->v[i].out)
                race_time(r, round, i, launch_s(j, i));
        race_judge(r);
    }
    return race_winner(r);
}

/* Its winner is proven in launches of its own: as compare/collect.c makes an effect of them. */
static bool proves(struct job *j, size_t winner)
{
    struct nested x[LAUNCHES];
    struct rng rng;
    double apart = 0;
    for (size_t i = 0; i < LAUNCHES; i++) {
        double base = log(launch_s(j, 0)), again = log(launch_s(j, 0));
        x[i] = (struct nested){.launch = (int)i,
                               .value = log(launch_s(j, winner)) - (base + again) / 2};
        apart += (again - base) / LAUNCHES;
    }
    rng_seed(&rng, 1);
    struct effect e = effect_paired(x, LAUNCHES, CONTRAST_DRAWS, &rng);
    return race_proven(&e, fabs(apart), WORTH);
}

TEST(none_is_proven_where_nothing_differs)
{
    const double spreads[] = {0.003, 0.01, 0.03};
    for (size_t s = 0; s < COUNT(spreads); s++) {
        int proven = 0, jobs = 1000;
        for (int k = 0; k < jobs; k++) {
            struct job j = {.sd = spreads[s]};
            struct race r;
            rng_seed(&j.rng, (uint64_t)k + 1);
            size_t winner = race_of(&j, &r);
            proven += winner && proves(&j, winner);
            race_free(&r);
        }
        if (proven > jobs / 20)
            fail_msg("spread %g: %d of %d jobs have a proven setting", spreads[s], proven, jobs);
    }
}

TEST(a_gain_is_found_and_proven)
{
    int found = 0, jobs = 200;
    for (int k = 0; k < jobs; k++) {
        struct job j = {.sd = 0.01};
        struct race r;
        rng_seed(&j.rng, (uint64_t)k + 1);
        for (size_t i = 1; i <= SETTINGS; i++)
            j.truth[i] = i % 2 ? 0.05 : 0;
        j.truth[9] = log(0.9);
        found += race_of(&j, &r) == 9 && proves(&j, 9);
        race_free(&r);
    }
    if (found < jobs * 9 / 10)
        fail_msg("10%% are found in %d of %d jobs", found, jobs);
}

TEST(of_two_alike_the_one_that_changes_less_wins)
{
    int less = 0;
    for (int k = 0; k < 100; k++) {
        struct job j = {.sd = 0.002};
        struct race r;
        rng_seed(&j.rng, (uint64_t)k + 1);
        for (size_t i = 1; i <= SETTINGS; i++)
            j.weight[i] = 4;
        j.weight[3] = 1;
        j.truth[3] = j.truth[7] = log(0.8);
        less += race_of(&j, &r) == 3;
        race_free(&r);
    }
    assert_in_range(less, 90, 100);
}

TEST(losers_drop_out_at_once)
{
    struct race r;
    race_begin(&r, WORTH, LAUNCHES);
    for (int i = 0; i < 3; i++)
        race_enter(&r, 1);
    race_time(&r, 0, 0, 0.2);
    race_time(&r, 0, 1, 0.1);
    race_time(&r, 0, 2, 0.19);
    race_failed(&r, 3);
    race_judge(&r);
    assert_false(r.v[1].out);
    assert_true(r.v[2].out);
    assert_true(r.v[3].failed);
    assert_int_equal(race_left(&r), 1);
    assert_int_equal(race_winner(&r), 1);
    assert_true(race_decided(&r));
    race_free(&r);
}

TEST(a_setting_that_was_not_measured_cannot_win)
{
    struct race r;
    race_begin(&r, WORTH, LAUNCHES);
    race_enter(&r, 1);
    assert_int_equal(race_winner(&r), 0);
    race_time(&r, 0, 0, 0.2);
    race_judge(&r);
    assert_int_equal(race_winner(&r), 0);
    assert_int_equal(race_left(&r), 1);
    race_free(&r);
}
