/* SPDX-License-Identifier: Apache-2.0
 *
 * Expected values are computed with SciPy 1.17.1 by the call quoted at each, or by hand.
 */
#include "../normal.h"
#include "base/stats.h"
#include "compare/collect.h"
#include "compare/contrast.h"
#include "compare/origin.h"
#include "compare/setting.h"
#include "compare/verdicts.h"
#include "record/recorded.h"
#include "unit.h"

/* scipy.stats.t.sf(t, df), scipy.stats.t.isf(tail, df) */
TEST(students_t)
{
    near(student_tail(0, 3), 0.5, 1e-15);
    near(student_tail(2, 5), 0.05096973941492917, 1e-14);
    near(student_tail(-2, 5), 1 - 0.05096973941492917, 1e-14);
    near(student_tail(1, 1), 0.25, 1e-14);
    near(student_quantile(0.025, 1), 12.706204736174698, 1e-9);
    near(student_quantile(0.025, 4), 2.7764451051977987, 1e-11);
    near(student_quantile(0.005, 9), 3.2498355415921254, 1e-11);
    near(student_quantile(0.025, 1e6), 1.9599663568141072, 1e-9);
    near(student_quantile(0.2, 4), 0.9409645772351811, 1e-11);
    for (int i = 0; i < 7; i++) {
        double df = 1.5 * pow(1.7, i);
        near(student_tail(student_quantile(0.01, df), df), 0.01, 1e-12);
    }
}

/* statsmodels.stats.multitest.multipletests(p, method='holm')[1] */
TEST(holm_steps_down)
{
    double p[] = {0.04, 0.01, NAN, 0.03, 0.005, 0.9};
    const double want[] = {0.09, 0.04, NAN, 0.09, 0.025, 0.9};
    contrast_holm(p, 6);
    for (int i = 0; i < 6; i++)
        if (isnan(want[i]))
            assert_true(isnan(p[i]));
        else
            near(p[i], want[i], 1e-15);
    contrast_holm(p, 0);
}

/* Launches of one block each: their means are known. */
static size_t singles(struct nested *x, const double *mean, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (struct nested){.launch = (int)i + 1, .value = mean[i]};
    return n;
}

static struct effect effect_of(const double *mean, size_t n)
{
    struct nested x[64];
    struct rng rng;
    rng_seed(&rng, 1);
    return effect_paired(x, singles(x, mean, n), 4000, &rng);
}

TEST(the_interval_is_the_launches)
{
    const double mean[] = {-0.021, -0.017, -0.024, -0.019, -0.018};
    struct effect e = effect_of(mean, 5);
    near(e.value, -0.0198, 1e-15);
    near(e.se, 0.0012409673645990856, 1e-15); /* scipy.stats.sem */
    near(e.df, 4, 0);
    /* scipy.stats.ttest_1samp(mean, 0) and its confidence_interval(): the bootstrap's, but for its
     * skewness and the luck of 4,000 draws */
    near(e.p_interval, 9.020767119646435e-05, 4e-5);
    near(e.lo, -0.02324548, 6e-4);
    near(e.hi, -0.01635452, 6e-4);
    near(e.p_permutation, 2. / 32, 1e-15);
    near(e.p_least, 2. / 32, 1e-15);
    assert_int_equal(e.launches, 5);
}

/* What the blocks scatter by is in the launches' means already, and must not be counted again. */
TEST(blocks_do_not_widen_it)
{
    struct nested few[5], many[500];
    struct rng rng;
    for (int l = 0; l < 5; l++) {
        few[l] = (struct nested){.launch = l, .value = 0.01 * l};
        for (int b = 0; b < 100; b++)
            many[l * 100 + b] =
                (struct nested){.launch = l, .value = 0.01 * l + (b % 2 ? 0.2 : -0.2)};
    }
    rng_seed(&rng, 2);
    struct effect a = effect_paired(few, 5, 10000, &rng), b = effect_paired(many, 500, 10000, &rng);
    near(a.value, b.value, 1e-12);
    near(a.se, b.se, 1e-12);
    near(a.hi - a.lo, b.hi - b.lo, 0.003);
    near((b.hi - b.lo) / b.se, 2 * 2.7764, 0.4);
}

TEST(signs_flip_exactly)
{
    const double mixed[] = {3, 1, -1};
    /* |±3±1±1| >= 3: all but ±(3-1-1): 6 of 8 */
    near(effect_of(mixed, 3).p_permutation, 0.75, 1e-15);
    const double many[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct effect e = effect_of(many, 20); /* by 4,000 draws, none of which should be as far */
    near(e.p_permutation, 1. / 4001, 1e-12);
    near(e.p_least, 1. / 4001, 1e-12);
    near(effect_of(many, 14).p_permutation, 2. / 16384, 1e-15); /* the most that are all tried */
    const double zero[] = {0, 0, 0};
    e = effect_of(zero, 3);
    near(e.p_permutation, 1, 0);
    near(e.p_interval, 1, 0);
    near(e.lo, 0, 0);
}

TEST(one_launch_has_no_numbers)
{
    const double mean[] = {0.5};
    struct effect e = effect_of(mean, 1);
    assert_int_equal(e.launches, 1);
    assert_true(isnan(e.value) && isnan(e.lo) && isnan(e.p_permutation));
    struct judgement j = judge_effect(&e, 0.01, 0, e.p_permutation);
    assert_int_equal(j.verdict, VERDICT_INCONCLUSIVE);
    assert_int_equal(j.needed, 4);
    e = effect_of(mean, 0);
    assert_int_equal(e.launches, 0);
    assert_int_equal(judge_effect(&e, 0.01, 0, NAN).needed, -1);
}

/* scipy.stats.ttest_ind(b, a, equal_var=False) */
TEST(sides_are_welchs)
{
    const double a[] = {1.00, 1.02, 0.99, 1.01}, b[] = {1.10, 1.16, 1.07};
    struct nested x[4], y[3];
    struct rng rng;
    rng_seed(&rng, 3);
    struct effect e = effect_unpaired(x, singles(x, a, 4), y, singles(y, b, 3), 10000, &rng);
    near(e.value, 0.105, 1e-12);
    near(e.se, 0.02723355773061361, 1e-15);
    near(e.df, 2.239890658874542, 1e-12);
    near(e.p_interval, 0.05090141152884494, 1e-12);
    near(e.p_least, 1. / 35, 1e-12); /* 1 / C(7, 3) */
    near(e.p_permutation, 1. / 35, 0.006);
    assert_true(e.lo < 0.105 && e.hi > 0.105 && e.launches == 3);
    e = effect_unpaired(x, singles(x, a, 3), y, singles(y, b, 3), 10000, &rng);
    near(e.p_least, 2. / 20, 1e-12); /* either side may be the larger: 2 / C(6, 3) */
    const double low[] = {1, 2, 3, 4, 5, 6, 7, 8}, high[] = {91, 92, 93, 94, 95, 96, 97, 98};
    struct nested l[8], h[8];
    e = effect_unpaired(l, singles(l, low, 8), h, singles(h, high, 8), 100, &rng);
    near(e.p_permutation, 1. / 101,
         1e-15); /* no deal of a hundred is as far; what was seen is one */
}

/* Expanded, the percentiles of the bootstrap are as wide as Student's interval. */
TEST(an_expanded_percentile_is_students)
{
    const double mean[] = {-1.55, -1, -0.66, -0.38, -0.12, 0.12, 0.38, 0.66, 1, 1.55};
    struct nested x[10];
    struct rng rng;
    rng_seed(&rng, 8);
    size_t n = singles(x, mean, 10);
    struct interval plain = contrast_percentile(x, n, 40000, false, &rng);
    struct interval expanded = contrast_percentile(x, n, 40000, true, &rng);
    double se = effect_of(mean, 10).se;
    near((plain.hi - plain.lo) / 2, 1.96 * se * sqrt(0.9), 0.02 * se);
    near((expanded.hi - expanded.lo) / 2, student_quantile(0.025, 9) * se, 0.05 * se);
}

static struct effect made(double value, double half, int launches)
{
    return (struct effect){.value = value,
                           .lo = value - half,
                           .hi = value + half,
                           .launches = launches,
                           .se = half / 2.776,
                           .df = launches - 1,
                           .p_permutation = 0.0625,
                           .p_least = 0.0625,
                           .p_interval = 0.01};
}

TEST(verdicts_by_their_bounds)
{
    static const struct {
        double value, half, floor, p;
        enum verdict want;
    } cases[] = {
        {-0.02, 0.005, 0, 0.01, VERDICT_FASTER},
        {0.02, 0.005, 0, 0.01, VERDICT_SLOWER},
        {-0.02, 0.005, 0, 0.06, VERDICT_INCONCLUSIVE}, /* not in its family */
        {0.02, 0.005, 0, 0.06, VERDICT_INCONCLUSIVE},
        {-0.02, 0.025, 0, 0.01, VERDICT_INCONCLUSIVE},     /* reaches 0 */
        {-0.02, 0.005, 0.016, 0.01, VERDICT_INCONCLUSIVE}, /* reaches the floor */
        {-0.02, 0.005, 0.014, 0.01, VERDICT_FASTER},
        {-0.02, 0.005, 0.03, 0.01, VERDICT_INCONCLUSIVE}, /* below the floor */
        {-0.009, 0.005, 0, 0.01, VERDICT_INCONCLUSIVE},   /* a difference below the bounds */
        {0.009, 0.005, 0, 0.01, VERDICT_INCONCLUSIVE},
        {-0.005, 0.004, 0, 0.01, VERDICT_EQUIVALENT},
        {0.005, 0.004, 0.02, 0.01, VERDICT_EQUIVALENT},
        {0, 0.02, 0, 1, VERDICT_INCONCLUSIVE},
        {-0.2, 0.005, NAN, 0.01, VERDICT_INCONCLUSIVE}, /* no floor */
        {0, 0.001, NAN, 1, VERDICT_INCONCLUSIVE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct effect e = made(cases[i].value, cases[i].half, 5);
        struct judgement j = judge_effect(&e, 0.01, cases[i].floor, cases[i].p);
        if (j.verdict != cases[i].want)
            fail_msg("case %zu is %s", i, verdict_names[j.verdict]);
        assert_true((*j.reason != 0) == (j.verdict == VERDICT_INCONCLUSIVE || j.small));
        assert_true(j.verdict == VERDICT_INCONCLUSIVE || j.needed == 0);
    }
}

/* "No difference" is said only of an interval that includes zero. */
TEST(small_effects_are_named)
{
    struct effect shorter = made(log(0.993), 0.002, 5), longer = made(log(1.005), 0.002, 5),
                  none = made(-0.001, 0.002, 5);
    struct judgement j = judge_effect(&shorter, 0.01, 0, 0.01);
    assert_int_equal(j.verdict, VERDICT_EQUIVALENT);
    assert_int_equal(j.small, -1);
    assert_string_equal(j.reason, "shorter by 0.5 to 0.9%, below the 1% that you ask for");
    j = judge_effect(&longer, 0.01, 0.001, 0.01);
    assert_int_equal(j.small, 1);
    assert_string_equal(j.reason, "longer by 0.3 to 0.7%, below the 1% that you ask for");
    j = judge_effect(&longer, 0.01, 0.01, 0.01); /* not above the A/A floor */
    assert_int_equal(j.small, 0);
    j = judge_effect(&longer, 0.01, 0.001, 0.06); /* not after adjustment */
    assert_int_equal(j.small, 0);
    assert_string_equal(j.reason, "");
    j = judge_effect(&none, 0.01, 0, 1);
    assert_int_equal(j.small, 0);
    assert_string_equal(j.reason, "");
}

/* The reason speaks of the p that decides: an interval without 0 is not enough. */
TEST(reasons_follow_the_test)
{
    const char *adjusted = "significant alone, but not after adjustment";
    struct effect e = made(-0.5, 0.4, 3);
    assert_string_equal(judge_effect(&e, 0.01, 0, 0.06).reason, adjusted);
    e.p_tested = 0.03;
    assert_string_equal(judge_effect(&e, 0.01, 0, 0.06).reason, adjusted);
    e.p_tested = 0.0625;
    assert_string_equal(judge_effect(&e, 0.01, 0, 0.13).reason, "p 0.062 alone: not significant");
    e.p_tested = e.p_interval = 0.0558;
    assert_string_equal(judge_effect(&e, 0.01, 0, 0.1116).reason, "p 0.056 alone: not significant");
}

/* The bounds are those of the ratio's logarithm: log(1.1) is 0.0953. */
TEST(bounds_are_logarithms)
{
    struct effect inside = made(0.09, 0.005, 5), outside = made(0.09, 0.008, 5);
    assert_int_equal(judge_effect(&inside, 0.1, 0, 1).verdict, VERDICT_EQUIVALENT);
    assert_int_equal(judge_effect(&outside, 0.1, 0, 1).verdict, VERDICT_INCONCLUSIVE);
}

/* The first n with (t.975 + t.8)(n - 1) sd / sqrt(n) < room; sd = se sqrt(launches). */
static int64_t further_launches(const struct effect *e, double room)
{
    double sd = e->se * sqrt(e->launches);
    int n = e->launches + 1;
    while ((student_quantile(0.025, n - 1) + student_quantile(0.2, n - 1)) * sd / sqrt(n) >= room)
        n++;
    return n - e->launches;
}

TEST(launches_are_counted_exactly)
{
    for (int i = 0; i < 79; i++) {
        double half = 0.0205 + 0.0005 * i;
        struct effect e = made(0.02, half, 5);
        assert_int_equal(judge_effect(&e, 0.01, 0, 0.06).needed, further_launches(&e, 0.02));
    }
    struct effect many = made(0.05, 0.01, JUDGEMENT_MOST_LAUNCHES);
    assert_int_equal(judge_effect(&many, 0.01, 0, 0.06).needed, -1);
}

TEST(launches_that_would_settle_it)
{
    struct effect e;
    e = made(0, 0.05, 5);
    int64_t wide = judge_effect(&e, 0.01, 0, 1).needed;
    assert_in_range(wide, 30, 200);
    e = made(0.02, 0.005, 5);
    assert_int_equal(judge_effect(&e, 0.01, 0.03, 0.01).needed, -1);
    e = made(0, 0.9, 5);
    assert_int_equal(judge_effect(&e, 0.01, 0, 1).needed, -1); /* more than a thousand */
}

TEST(which_p_decides)
{
    struct effect e = made(-0.02, 0.005, 5);
    near(judgement_p(&e, 1), e.p_interval, 0); /* 2/32 cannot reach 5% */
    e.p_least = 2. / 1024;
    e.p_permutation = 0.004;
    near(judgement_p(&e, 10), e.p_interval, 0); /* the larger of the two */
    e.p_permutation = 0.02;
    near(judgement_p(&e, 10), 0.02, 0);
    near(judgement_p(&e, 30), e.p_interval, 0); /* 30 * 2/1024 cannot either */
    e.p_least = JUDGEMENT_ALPHA / 4;
    assert_true(judgement_permutes(&e, 4)); /* 5% itself is reached */
    assert_false(judgement_permutes(&e, 5));
}

TEST(the_interval_and_its_p_agree)
{
    struct rng rng;
    int excluded = 0;
    rng_seed(&rng, 21);
    for (int round = 0; round < 400; round++) {
        double mean[5]; /* skewed, so that the interval's sides differ */
        for (int i = 0; i < 5; i++)
            mean[i] = exp(rng_normal(&rng)) - (round % 2 ? 0.3 : 3);
        struct effect e = effect_of(mean, 5);
        bool excludes = e.lo > 0 || e.hi < 0;
        assert_true(e.p_interval >= 0.05 || excludes);
        assert_true(e.p_interval > 1.9999 * student_tail(fabs(e.value) / e.se, e.df));
        excluded += e.p_interval < 0.05;
    }
    assert_in_range(excluded, 40, 360);
}

TEST(differences_are_named)
{
    static const struct {
        const char *a, *b, *want;
    } cases[] = {
        {"mpi 4\nhost a\n", "mpi 4\nhost a\n", ""},
        {"mpi 4\nhost a\n", "mpi 5\nhost a\n", "mpi 4 | 5"},
        {"mpi 4\nnccl 2.28\n", "mpi 41\n", "mpi 4 | 41, nccl 2.28 | none"},
        {"", "nccl 2.28\n", "nccl none | 2.28"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_FREE char *got = origin_difference(cases[i].a, cases[i].b);
        assert_string_equal(got, cases[i].want);
    }
}

/* One launch for each number of blocks; 0 ends them. Returns the launches that are kept, as text. */
static const char *kept_of(int64_t asked, const size_t *blocks, char **note)
{
    static char text[64];
    struct values x = {0};
    *text = '\0';
    for (int launch = 1; blocks[launch - 1]; launch++)
        for (size_t i = 0; i < blocks[launch - 1]; i++)
            APPEND(x.v, x.n) = (struct nested){.launch = launch, .value = 1};
    values_drop_short(&x, asked, note);
    for (size_t i = 0; i < x.n; i++)
        if (!i || x.v[i].launch != x.v[i - 1].launch)
            snprintf(text + strlen(text), sizeof text - strlen(text), " %d", x.v[i].launch);
    free(x.v);
    return text;
}

TEST(short_launches_are_dropped)
{
    char *many = NULL, *few = NULL, *none = NULL;
    assert_string_equal(kept_of(20, (size_t[]){3, 2, 10, 9, 0}, &many), " 1 3 4");
    assert_string_equal(many, "left out, too few blocks: launch 2 (2) of 20; few blocks: "
                              "launch 1 (3), 4 (9) of 20");
    assert_string_equal(kept_of(4, (size_t[]){2, 1, 4, 0}, &few), " 1 3");
    assert_string_equal(few, "left out, too few blocks: launch 2 (1) of 4");
    assert_string_equal(kept_of(1, (size_t[]){1, 1, 0}, &none), " 1 2");
    assert_null(none);
    free(many);
    free(few);
}

/* Adds a contrast of a run: each launch differs by about `effect`, and the copies by `floor`. */
static void differ(struct comparison *c, double effect, double floor, int launches, bool same)
{
    struct contrast *one = comparison_append(c);
    char **texts[] = {&one->platform, &one->workload, &one->label, &one->run_id,
                      &one->mode,     &one->params,   &one->ran};
    for (size_t i = 0; i < COUNT(texts); i++)
        *texts[i] = xstrdup("");
    one->same_operation = same;
    one->family = c->n;
    one->bound = 0.01;
    for (int i = 0; i < launches; i++) {
        APPEND(one->x.v, one->x.n) = (struct nested){i + 1, effect + 1e-4 * (i - 2), 1};
        APPEND(one->aa.v, one->aa.n) = (struct nested){i + 1, floor, 1};
    }
}

/* Two of at least 20 contrasts without a difference are called one. Those of one launch do not count. */
TEST(placebos_raise_the_floor)
{
    static const struct {
        int placebos, single;
        enum verdict verdict;
    } cases[] = {{20, 0, VERDICT_INCONCLUSIVE}, {19, 0, VERDICT_FASTER}, {19, 5, VERDICT_FASTER}};
    for (size_t k = 0; k < COUNT(cases); k++) {
        AUTO(comparison_free) struct comparison c = {0};
        differ(&c, -0.02, 0, 5, false);
        differ(&c, -0.09, 0.05, 5, false);
        for (int i = 0; i < cases[k].placebos + cases[k].single; i++)
            differ(&c, i < 2 ? 0.03 : 0, 0, i < cases[k].placebos ? 5 : 1, true);
        comparison_solve(&c, 1);
        assert_int_equal(c.v[0].judgement.verdict, cases[k].verdict);
        assert_int_equal(c.v[1].judgement.verdict, VERDICT_FASTER); /* its own floor is higher */
        near(c.v[1].floor, 0.05, 1e-12);
    }
}
