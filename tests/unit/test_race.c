/* SPDX-License-Identifier: Apache-2.0
 *
 * The race of tune: simulated jobs whose truth is known.
 */
#include "../normal.h"
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

static void race_begin(struct race *r)
{
    *r = (struct race){.worth = WORTH, .proofs = LAUNCHES};
    for (size_t i = 0; i <= SETTINGS; i++)
        APPEND(r->set.v, r->set.n) =
            (struct tune_setting){.label = i ? xstrfmt("S=%zu", i) : xstrdup("auto")};
    r->v = xcalloc(r->set.n, sizeof *r->v);
    for (size_t i = 1; i <= SETTINGS; i++)
        r->v[i].in[IN_LAUNCHES] = true;
}

static void race_end(struct race *r, struct visits *all)
{
    for (size_t i = 0; i < r->set.n; i++)
        free(r->set.v[i].label);
    free(r->set.v);
    free(r->v);
    visits_free(all);
}

/* step_s 0: it failed. */
static void launch(struct visits *all, const struct race *r, int round, size_t i, double step_s)
{
    APPEND(all->v, all->n) = (struct visit){.launch = round,
                                            .steps = 2,
                                            .arm = xstrdup(r->set.v[i].label),
                                            .most_ns = (uint64_t)(1e9 * step_s)};
}

static size_t race_of(struct job *j)
{
    struct race r;
    struct visits all = {0};
    race_begin(&r);
    for (size_t i = 1; i <= SETTINGS; i++)
        r.set.v[i].weight = j->weight[i];
    for (int round = 0, decided = 0; round < ROUNDS && !decided; round++) {
        for (size_t i = 0; i <= SETTINGS; i++)
            if (!i || r.v[i].in[IN_LAUNCHES])
                launch(&all, &r, round, i, launch_s(j, i));
        decided = race_judge(&r, IN_LAUNCHES, &all);
    }
    size_t winner = race_winner(&r, IN_LAUNCHES, &all);
    race_end(&r, &all);
    return winner;
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
            rng_seed(&j.rng, (uint64_t)k + 1);
            size_t winner = race_of(&j);
            proven += winner && proves(&j, winner);
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
        rng_seed(&j.rng, (uint64_t)k + 1);
        for (size_t i = 1; i <= SETTINGS; i++)
            j.truth[i] = i % 2 ? 0.05 : 0;
        j.truth[9] = log(0.9);
        found += race_of(&j) == 9 && proves(&j, 9);
    }
    if (found < jobs * 9 / 10)
        fail_msg("10%% are found in %d of %d jobs", found, jobs);
}

TEST(of_two_alike_the_one_that_changes_less_wins)
{
    int less = 0;
    for (int k = 0; k < 100; k++) {
        struct job j = {.sd = 0.002};
        rng_seed(&j.rng, (uint64_t)k + 1);
        for (size_t i = 1; i <= SETTINGS; i++)
            j.weight[i] = 4;
        j.weight[3] = 1;
        j.truth[3] = j.truth[7] = log(0.8);
        less += race_of(&j) == 3;
    }
    assert_in_range(less, 90, 100);
}

TEST(losers_drop_out_at_once)
{
    const double step_s[] = {0.2, 0.1, 0.19, 0};
    struct race r;
    struct visits all = {0};
    race_begin(&r);
    for (size_t i = 0; i < COUNT(step_s); i++)
        launch(&all, &r, 0, i, step_s[i]);
    for (size_t i = COUNT(step_s); i <= SETTINGS; i++)
        r.v[i].in[IN_LAUNCHES] = false;
    assert_false(race_judge(&r, IN_LAUNCHES, &all)); /* nothing is known of the one that failed */
    assert_true(r.v[1].in[IN_LAUNCHES]);
    assert_false(r.v[2].in[IN_LAUNCHES]);
    assert_int_equal(r.v[3].effect.launches, 0);
    r.v[3].in[IN_LAUNCHES] = false;
    assert_true(race_judge(&r, IN_LAUNCHES, &all));
    assert_int_equal(race_left(&r, IN_LAUNCHES), 1);
    assert_int_equal(race_winner(&r, IN_LAUNCHES, &all), 1);
    race_end(&r, &all);
}

TEST(a_setting_that_was_not_measured_cannot_win)
{
    struct race r;
    struct visits all = {0};
    race_begin(&r);
    launch(&all, &r, 0, 0, 0.2);
    assert_false(race_judge(&r, IN_LAUNCHES, &all));
    assert_int_equal(race_winner(&r, IN_LAUNCHES, &all), 0);
    assert_int_equal(race_left(&r, IN_LAUNCHES), SETTINGS);
    race_end(&r, &all);
}
