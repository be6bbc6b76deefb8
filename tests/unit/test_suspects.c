/* SPDX-License-Identifier: Apache-2.0
 *
 * The tournament, the split of pairs into ranks and links, and who is compared with whom. How often
 * the judgement is wrong: tests/sim/suspect_rates.c.
 */
#include "common/collective.h"
#include "suspects/suspects_judge.h"
#include "suspects/suspects_text.h"
#include "unit.h"

#include <limits.h>

enum { GEMM, SENDRECV = 4, RANKS = 8, VISITS = 9 };

TEST(each_pair_meets_once)
{
    for (int n = 1; n <= 9; n++) {
        int met[9][9] = {{0}};
        for (int round = 1; round <= collective_rounds(n); round++)
            for (int a = 0; a < n; a++) {
                int b = collective_round_peer(a, round - 1, n);
                if (b < 0)
                    continue;
                assert_int_equal(collective_round_peer(b, round - 1, n), a);
                met[a][b]++;
            }
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++)
                assert_int_equal(met[a][b], a != b);
        for (int a = 0; a < n; a++) { /* as a damaged recording may ask */
            assert_int_equal(collective_round_peer(a, -1, n), -1);
            assert_int_equal(collective_round_peer(a, INT_MAX, n), -1);
        }
        assert_int_equal(collective_round_peer(-1, 0, n),
                         -1); /* of a death that no rank reported */
    }
}

static void split(size_t n, size_t slow_rank, size_t a, size_t b, double *rank, double *link)
{
    double y[RANKS * RANKS];
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            y[i * n + j] =
                5 + (i == slow_rank || j == slow_rank ? 0.2 : 0) + (i == a && j == b ? 0.3 : 0);
    suspects_pair_effects(y, n, rank, link);
}

TEST(a_slow_link_is_no_slow_rank)
{
    double rank[RANKS], link[RANKS * RANKS];
    for (size_t n = 3; n <= RANKS; n++) {
        split(n, n, 0, 1, rank, link);
        for (size_t i = 0; i < n; i++)
            assert_true(fabs(rank[i]) < 1e-9);
        assert_true(fabs(link[1] - 0.3) < 1e-9 && fabs(link[2]) < 1e-9);
    }
}

TEST(a_slow_rank_is_no_slow_link)
{
    double rank[RANKS], link[RANKS * RANKS];
    for (size_t n = 3; n <= RANKS; n++) {
        split(n, 1, n, n, rank, link);
        assert_true(fabs(rank[1] - 0.2) < 1e-9 && fabs(rank[0]) < 1e-9);
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++)
                assert_true(fabs(link[i * n + j]) < 1e-9);
    }
}

/* ---- machines ---- */

struct machine {
    struct suspects_data d;
    struct rank_facts rank[RANKS];
    int launch[VISITS];
    bool silent[RANKS * RANKS];
    double x[SUSPECTS_TESTS][VISITS * RANKS * RANKS];
};

/* Ranks that differ by 0.1% in a GEMM; pairs that differ by 0.1%, at once. One host, one model. */
static struct machine *machine(void)
{
    struct machine *m = calloc(1, sizeof *m);
    m->d = (struct suspects_data){.ranks = RANKS,
                                  .visits = VISITS,
                                  .launch = m->launch,
                                  .silent = m->silent,
                                  .rank = m->rank};
    for (size_t t = 0; t < SUSPECTS_TESTS; t++)
        m->d.x[t] = m->x[t];
    for (int i = 0; i < RANKS; i++)
        m->rank[i] = (struct rank_facts){.host = "a", .model = "one", .uuid = "", .index = i};
    for (int v = 0; v < VISITS; v++)
        m->launch[v] = v / 3;
    for (size_t t = 0; t < SUSPECTS_TESTS; t++)
        for (size_t v = 0, n = suspects_entities(&m->d, t); v < VISITS; v++)
            for (size_t i = 0; i < n; i++)
                m->x[t][v * n + i] = t == GEMM || (t == SENDRECV && i / RANKS < i % RANKS)
                                         ? 0.001 * (double)(i * 7 % 5)
                                         : NAN;
    return m;
}

static void slow_down(struct machine *m, size_t test, size_t entity, double by)
{
    size_t n = suspects_entities(&m->d, test);
    for (size_t v = 0; v < VISITS; v++)
        m->x[test][v * n + entity] += by;
}

TEST(a_slow_rank_is_found)
{
    struct machine *m = machine();
    struct verdicts v;
    suspects_judge(&v, &m->d);
    assert_int_equal(v.n, 0);
    assert_int_equal(v.links, RANKS * (RANKS - 1) / 2);
    suspects_verdicts_free(&v);
    slow_down(m, GEMM, 3, 0.05);
    suspects_judge(&v, &m->d);
    assert_int_equal(v.n, 1);
    assert_true(v.v[0].kind == SUSPECT_RANK && v.v[0].a == 3);
    assert_true(fabs(v.v[0].findings[0].excess.value - 0.05) < 0.005);
    suspects_verdicts_free(&v);
    free(m);
}

TEST(another_model_is_no_suspect)
{
    struct machine *m = machine();
    struct verdicts v;
    for (size_t i = 6; i < RANKS; i++) {
        slow_down(m, GEMM, i, 0.5);
        m->rank[i].model = "another";
    }
    suspects_judge(&v, &m->d);
    assert_int_equal(v.n, 0);
    suspects_verdicts_free(&v);
    free(m);
}

TEST(ranks_that_are_all_slow_are_a_slow_host)
{
    struct machine *m = machine();
    struct verdicts v;
    for (size_t i = 0; i < 2; i++) {
        m->rank[i].host = "b";
        slow_down(m, GEMM, i, 0.1);
    }
    for (size_t t = SENDRECV, i = 0; i < VISITS * RANKS * RANKS; i++)
        m->x[t][i] = NAN;
    suspects_judge(&v, &m->d);
    assert_int_equal(v.n, 1);
    assert_true(v.v[0].kind == SUSPECT_HOST && v.v[0].a == 0);
    suspects_verdicts_free(&v);
    free(m);
}

TEST(links_that_are_all_slow_are_a_slow_route)
{
    static char *hosts[] = {"a", "a", "b", "b", "c", "c", "d", "d"};
    struct machine *m = machine();
    struct verdicts v;
    for (size_t i = 0; i < RANKS; i++)
        m->rank[i].host = hosts[i];
    slow_down(m, SENDRECV, 0 * RANKS + 2, 0.2);
    suspects_judge(&v, &m->d);
    assert_true(v.n == 1 && v.v[0].kind == SUSPECT_LINK && v.v[0].a == 0 && v.v[0].b == 2);
    suspects_verdicts_free(&v);
    slow_down(m, SENDRECV, 0 * RANKS + 3, 0.2);
    slow_down(m, SENDRECV, 1 * RANKS + 2, 0.2);
    slow_down(m, SENDRECV, 1 * RANKS + 3, 0.2);
    suspects_judge(&v, &m->d);
    assert_true(v.n == 1 && v.v[0].kind == SUSPECT_ROUTE && v.v[0].a == 0 && v.v[0].b == 2);
    suspects_verdicts_free(&v);
    free(m);
}

TEST(only_what_differs_from_the_past_is_slower_than_it)
{
    struct machine *now = machine(), *past = machine();
    struct verdicts v;
    slow_down(now, GEMM, 2, 0.1);
    slow_down(past, GEMM, 2, 0.1);
    slow_down(now, GEMM, 4, 0.1);
    suspects_judge_since(&v, &now->d, &past->d);
    assert_true(v.n == 1 && v.v[0].kind == SUSPECT_RANK && v.v[0].a == 4);
    suspects_verdicts_free(&v);
    free(past);
    free(now);
}

/* A difference that is too small for a suspect is no spread of healthy ones. */
TEST(two_ranks_see_what_they_could)
{
    double x[6] = {0, 0.04, 0, 0.04, 0, 0.04}, seen;
    struct excess excess[2];
    suspects_outliers(&(struct family){2, 3, x, 0}, SUSPECTS_ALPHA / 2, excess, &seen);
    assert_false(excess[1].slow);
    assert_true(seen > 0.05 && seen < 0.1);
}
