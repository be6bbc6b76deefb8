/* SPDX-License-Identifier: Apache-2.0 */
#include "common/rng.h"
#include "curves/transitions.h"
#include "unit.h"

#define N 24 /* 8 B to 64 MiB */
#define REPLICATES 5

struct test_curves {
    double size[N], time[REPLICATES][N];
    const double *rows[REPLICATES];
    struct curve c;
};

static struct test_curves m;
static struct transitions t; /* that were found in it */

/* Two protocols: 5 us and 10 GB/s below `change`, `a` and 100 GB/s from it on; noise a part of it.
 */
static void make(size_t change, double a, double noise)
{
    struct rng rng;
    rng_stream(&rng, 1, 2);
    m = (struct test_curves){.c = {m.size, N, m.rows, REPLICATES, NULL}};
    for (size_t i = 0; i < N; i++)
        m.size[i] = 8.0 * (double)(1u << i);
    for (size_t r = 0; r < REPLICATES; r++) {
        m.rows[r] = m.time[r];
        for (size_t i = 0; i < N; i++) {
            double s = i < change ? 5e-6 + m.size[i] / 10e9 : a + m.size[i] / 100e9;
            double u = (double)(rng_next(&rng) >> 11) / 9007199254740992.0;
            m.time[r][i] = s * exp(noise * (u - 0.5));
        }
    }
}

static void search(void)
{
    transitions_free(&t);
    t = transitions_find(&m.c);
}

static const struct transition *find(enum transition_kind kind, double low, double high)
{
    for (size_t i = 0; i < t.n; i++)
        if (t.v[i].kind == kind && t.v[i].size >= low && t.v[i].size <= high)
            return &t.v[i];
    return NULL;
}

static size_t count(enum transition_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < t.n; i++)
        n += t.v[i].kind == kind;
    return n;
}

TEST(a_line_is_one_piece)
{
    make(0, 20e-6, 0.01);
    search();
    assert_int_equal(count(TRANSITION_FIT), 1);
    assert_int_equal(count(TRANSITION_KINK), 0);
    const struct transition *half = find(TRANSITION_KNEE, 1.9e6, 2.1e6); /* 20 us x 100 GB/s */
    assert_non_null(half);
    assert_int_equal(half->agree, REPLICATES);
    assert_string_equal(transition_verdict(&t, half), "confirmed");
    assert_float_equal(half->after.a_s, 20e-6, 0.2e-6);
    assert_float_equal(half->after.b_Bps, 100e9, 1e9);
    assert_int_equal(t.n, 2);
    assert_true(t.error_in < 0.005 && t.error_out < 0.005);
}

TEST(a_break_is_a_kink)
{
    make(16, 40e-6, 0.02); /* at 512 KiB: 57 us, extrapolated, becomes 45 */
    search();
    const struct transition *s = find(TRANSITION_KINK, 256e3, 600e3);
    assert_non_null(s);
    assert_string_equal(transition_verdict(&t, s), "confirmed");
    assert_int_equal((int)s->low, 262144);
    assert_int_equal((int)s->high, 524288);
    assert_float_equal(s->before.b_Bps, 10e9, 1e9);
    assert_float_equal(s->after.b_Bps, 100e9, 5e9);
    assert_int_equal(count(TRANSITION_KINK), 1);
}

TEST(a_late_break_is_a_dip)
{
    make(12, 60e-6, 0.01); /* at 32 KiB 8.3 us become 60 */
    search();
    const struct transition *d = find(TRANSITION_DIPPED, 32768, 32768);
    assert_non_null(d);
    assert_string_equal(transition_verdict(&t, d), "confirmed");
    assert_true(d->change < -0.7);
    assert_string_equal(d->why, "regained at larger sizes");
    const struct transition *s = find(TRANSITION_KINK, 16384, 32768);
    assert_non_null(s);
    assert_true(s->change > 4);
}

/* What falls and does not come back, or only much later, is no dip. */
TEST(a_fall_is_no_dip)
{
    make(0, 1e-7, 0.005);
    for (size_t r = 0; r < REPLICATES; r++)
        for (size_t i = 18; i < m.c.n; i++)
            m.time[r][i] *= 1.2;
    search();
    assert_int_equal(count(TRANSITION_DIPPED), 0);
    assert_int_equal(count(TRANSITION_FELL), 1);
    assert_non_null(find(TRANSITION_FELL, m.size[18], m.size[18]));
}

TEST(a_spike_is_none_of_the_fit)
{
    make(0, 20e-6, 0.01);
    for (size_t r = 0; r < REPLICATES; r++)
        m.time[r][11] *= 5;
    search();
    const struct transition *s = find(TRANSITION_SPIKED, 16384, 16384);
    assert_non_null(s);
    assert_float_equal(s->change, 4, 0.1);
    assert_int_equal(s->agree, REPLICATES);
    assert_int_equal(count(TRANSITION_FIT), 1);
}

/* A spike in two launches of five moves no median; one in a single launch of two is not confirmed.
 */
TEST(replicates_must_agree)
{
    make(0, 20e-6, 0.01);
    m.c.replicates = 2;
    m.time[0][11] *= 5;
    search();
    const struct transition *s = find(TRANSITION_SPIKED, 16384, 16384);
    assert_non_null(s);
    assert_int_equal(s->agree, 1);
    assert_string_equal(transition_verdict(&t, s), "not confirmed");
    m.time[1][11] *= 5;
    m.c.replicates = 4;
    search();
    s = find(TRANSITION_SPIKED, 16384, 16384);
    assert_non_null(s);
    assert_int_equal(s->agree, 2);
    assert_string_equal(transition_verdict(&t, s), "not confirmed");
    m.c.replicates = 1;
    search();
    s = find(TRANSITION_SPIKED, 16384, 16384);
    assert_string_equal(transition_verdict(&t, s), "unconfirmed");
}

TEST(the_first_row_is_warm_up)
{
    make(0, 20e-6, 0.01);
    for (size_t r = 0; r < REPLICATES; r++)
        m.time[r][0] *= 1.5;
    search();
    const struct transition *f = find(TRANSITION_FIRST_ROW, 8, 8);
    assert_non_null(f);
    assert_string_equal(transition_verdict(&t, f), "artefact");
    assert_float_equal(f->change, 0.5, 0.02);
    assert_int_equal(f->agree, REPLICATES);
    assert_int_equal(count(TRANSITION_SPIKED), 0);
    assert_int_equal(count(TRANSITION_FIT), 1);
    make(0, 20e-6, 0.01); /* in one launch of two */
    m.c.replicates = 2;
    m.time[0][0] *= 1.08;
    search();
    f = find(TRANSITION_FIRST_ROW, 8, 8);
    assert_non_null(f);
    assert_int_equal(f->agree, 1);
    m.time[0][0] /= 1.06; /* 2% are not told from noise */
    search();
    assert_null(find(TRANSITION_FIRST_ROW, 8, 8));
}

TEST(chaos_is_refused)
{
    make(0, 20e-6, 4);
    search();
    assert_int_equal(t.n, 1);
    assert_int_equal(t.v[0].kind, TRANSITION_REFUSED);
    assert_int_equal(strncmp(t.v[0].why, "chaotic", 7), 0);
    make(0, 20e-6, 0.01);
    for (size_t i = 0; i < N; i++)
        m.time[1][i] *= 2;
    m.c.replicates = 2;
    search();
    assert_int_equal(t.n, 1);
    assert_non_null(strstr(t.v[0].why, "2.0 times apart"));
    m.c.n = 5;
    search();
    assert_non_null(strstr(t.v[0].why, "5 sizes"));
}

/* Without noise, over a range of truths: never a break in a line, always the one in two. */
TEST(breaks_are_neither_made_up_nor_missed)
{
    for (size_t change = 8; change <= 18; change += 2) {
        make(change, 5e-6 + 8.0 * (double)(1u << change) / 5e9, 0.02);
        search();
        assert_non_null(find(TRANSITION_KINK, m.size[change - 1], m.size[change]));
        assert_in_range(count(TRANSITION_FIT), 2, 3);
    }
}

static void say_ran(const char *ran[REPLICATES][N], const char *const *rows[REPLICATES])
{
    for (size_t r = 0; r < REPLICATES; r++) {
        rows[r] = ran[r];
        for (size_t i = 0; i < N; i++)
            ran[r][i] = i < 8    ? "RING/LL ctas=1"
                        : i < 16 ? "RING/LL ctas=24"
                                 : "RING/SIMPLE ctas=24";
    }
    m.c.ran = rows;
}

/* Times break at 32 KiB and nothing changes there; what ran changes where they are smooth. */
TEST(what_ran_says_where_a_switch_is)
{
    const char *ran[REPLICATES][N];
    const char *const *rows[REPLICATES];
    make(12, 60e-6, 0.01);
    say_ran(ran, rows);
    search();
    assert_int_equal(count(TRANSITION_KINK), 0);
    assert_int_equal(count(TRANSITION_SWITCH), 1);
    assert_int_equal(count(TRANSITION_CTAS), 1);
    const struct transition *s = find(TRANSITION_SWITCH, m.size[15], m.size[16]);
    assert_non_null(s);
    assert_int_equal(s->agree, REPLICATES);
    assert_string_equal(transition_verdict(&t, s), "recorded");
    assert_string_equal(s->why, "RING/LL ctas=24 to RING/SIMPLE ctas=24");
    assert_non_null(find(TRANSITION_CTAS, m.size[7], m.size[8]));
    assert_non_null(
        find(TRANSITION_DIPPED, m.size[12], m.size[12])); /* a dip is one in the times */
    ran[2][15] = "RING/SIMPLE ctas=24";                   /* one launch switches a size earlier */
    search();
    assert_int_equal(count(TRANSITION_SWITCH), 2);
    s = find(TRANSITION_SWITCH, m.size[14], m.size[15]);
    assert_non_null(s);
    assert_int_equal(s->agree, 1);
    m.c.n = 5; /* too short for a fit, not for what was recorded */
    ran[0][3] = "TREE/LL ctas=1";
    search();
    assert_int_equal(count(TRANSITION_REFUSED), 1);
    assert_int_equal(count(TRANSITION_SWITCH), 2);
}

/* A bandwidth that falls by 4% and stays low for some sizes, and one that does so at a single size.
 */
TEST(a_shallow_dip_has_two_sizes)
{
    for (int wide = 0; wide <= 1; wide++) {
        make(0, 1e-7, 0.005);
        for (size_t r = 0; r < REPLICATES; r++) {
            m.time[r][20] *= 1.04;
            m.time[r][21] *= wide ? 1.03 : 1;
        }
        search();
        const struct transition *d = find(TRANSITION_DIPPED, m.size[20], m.size[20]);
        assert_int_equal(d != NULL, wide);
        if (d)
            assert_string_equal(transition_verdict(&t, d), "confirmed");
    }
}

/* A tenth above both neighbours, the next size faster: what a break would be called otherwise. */
TEST(a_low_spike_is_one)
{
    make(0, 20e-6, 0.01);
    for (size_t r = 0; r < REPLICATES; r++)
        m.time[r][13] *= 1.12;
    search();
    const struct transition *s = find(TRANSITION_SPIKED, m.size[13], m.size[13]);
    assert_non_null(s);
    assert_int_equal(count(TRANSITION_KINK), 0);
    /* The size before it is slow too, but not slower than the size after it. */
    make(0, 20e-6, 0.01);
    for (size_t r = 0; r < REPLICATES; r++) {
        m.time[r][12] *= 1.13;
        m.time[r][13] *= 1.3;
        m.time[r][14] *= 1.1;
    }
    search();
    assert_non_null(find(TRANSITION_SPIKED, m.size[13], m.size[13]));
    assert_int_equal(count(TRANSITION_SPIKED), 1);
    make(0, 20e-6, 0.3); /* nothing special where all points are so far off */
    for (size_t r = 0; r < REPLICATES; r++)
        m.time[r][13] *= 1.12;
    search();
    assert_int_equal(count(TRANSITION_SPIKED), 0);
}
