/* SPDX-License-Identifier: Apache-2.0
 *
 * The agreement on who is present, over a simulated network that delays, reorders, repeats and loses
 * words, and cuts ranks and pairs, at random: no two ranks ever decide differently, and once the
 * network is whole again all ranks are taken back.
 */
#include "common/rng.h"
#include "wan_sync/present/agree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 7
#define STEP_S 0.01
#define BEAT 10       /* steps between words, without news */
#define TIMEOUT_S 1.0 /* of silence */
#define FLIGHTS 512
#define VIEWS 4096

struct flight {
    bool flies, block; /* a rank's block of a view's exchange, or a word */
    int from, to;
    unsigned at;
    struct agree_word word;
    uint64_t view;
};

struct rank {
    struct agree a;
    double heard_s[RANKS];
    uint64_t view; /* of its exchange; 0: none */
    rank_set set, came;
    bool has_sum, done, used; /* the turn; used: it used a sum */
    unsigned resume;          /* step at which its next turn begins */
    unsigned slow;            /* until this step it exchanges nothing, but is heard */
    unsigned joins_until;
};

struct world {
    struct rng rng;
    int n;
    struct rank r[RANKS];
    bool cut[RANKS][RANKS];
    double loss;
    struct flight f[FLIGHTS];
    unsigned now;
    uint64_t turn;
    struct agree_word entered[VIEWS]; /* as first seen: the same for all */
    bool seen[VIEWS];
    uint64_t view_of_round[VIEWS];
    unsigned sums, fewer, whole; /* turns in which all used one */
};

static double chance(struct world *w)
{
    return (double)(rng_next(&w->rng) >> 11) * 0x1p-53;
}

static void fly(struct world *w, struct flight f)
{
    int copies = chance(w) < 0.1 ? 2 : 1;
    for (int i = 0; i < FLIGHTS && copies; i++) {
        if (w->f[i].flies)
            continue;
        w->f[i] = f;
        w->f[i].flies = true;
        w->f[i].at = w->now + 1 + (unsigned)(chance(w) * 12);
        copies--;
    }
}

static void tell_all(struct world *w, int me)
{
    struct rank *r = &w->r[me];
    r->a.mine.count++;
    r->a.changed = false;
    for (int to = 0; to < w->n; to++)
        if (to != me)
            fly(w, (struct flight){.from = me, .to = to, .word = r->a.mine});
}

static void send_blocks(struct world *w, int me)
{
    struct rank *r = &w->r[me];
    for (int to = 0; r->view && to < w->n; to++)
        if (to != me && r->set >> to & 1)
            fly(w, (struct flight){.from = me, .to = to, .block = true, .view = r->view});
}

static void land(struct world *w)
{
    for (int i = 0; i < FLIGHTS; i++) {
        struct flight *f = &w->f[i];
        if (!f->flies || f->at > w->now)
            continue;
        f->flies = false;
        struct rank *to = &w->r[f->to];
        if (w->cut[f->from][f->to] || chance(w) < w->loss)
            continue;
        if (f->block) {
            if (f->view == to->view)
                to->came |= rank_bit(f->from);
        } else {
            to->heard_s[f->from] = w->now * STEP_S;
            agree_hear(&to->a, f->from, &f->word);
        }
    }
}

/* What every rank that enters a view says of it is the same. */
static void check_view(struct world *w, const struct agree_word *m)
{
    struct agree_word *first = &w->entered[m->view];
    assert_true(m->view < VIEWS);
    if (!w->seen[m->view]) {
        *first = *m;
        w->seen[m->view] = true;
    }
    assert_int_equal(first->round, m->round);
    assert_int_equal(first->set, m->set);
    assert_int_equal(first->since, m->since);
    assert_int_equal(first->committed, m->committed);
    assert_true(2 * ranks_in(m->set) > w->n);
}

static void use_sum(struct world *w, struct rank *r)
{
    uint64_t round = w->entered[r->view].round;
    if (!w->view_of_round[round])
        w->view_of_round[round] = r->view;
    assert_int_equal(w->view_of_round[round], r->view);
    assert_int_equal(r->set, w->entered[r->view].set);
    r->used = r->done = true;
    agree_did(&r->a, &r->a.mine.used);
}

static rank_set heard(const struct world *w, const struct rank *r)
{
    rank_set s = 0;
    for (int q = 0; q < w->n; q++)
        if (w->now * STEP_S - r->heard_s[q] < TIMEOUT_S)
            s |= rank_bit(q);
    return s;
}

static void leave(struct rank *r)
{
    agree_did(&r->a, &r->a.mine.out);
    r->view = 0;
    r->done = true;
}

/* As present.c drives it. */
static void take_part(struct world *w, int me)
{
    struct rank *r = &w->r[me];
    const struct agree_word *m = &r->a.mine;
    bool in = m->set >> me & 1;
    if (r->view && m->view != r->view && r->has_sum && m->committed == r->view) {
        use_sum(w, r);
        return;
    }
    if (agree_is_over(&r->a)) {
        leave(r);
        return;
    }
    if (m->view != r->view)
        r->view = 0, r->came = 0, r->has_sum = false;
    if (!in)
        return;
    if (!r->view && agree_leads(&r->a) && agree_returning(&r->a) && w->now < r->joins_until)
        return;
    if (!r->view && w->now >= r->slow) {
        r->view = m->view, r->set = m->set, r->came = rank_bit(me);
        agree_did(&r->a, &r->a.mine.began);
    }
    if (r->view && !r->has_sum && r->came == r->set) {
        r->has_sum = true;
        agree_has_sum(&r->a, r->view);
    }
}

static void begin_turn(struct world *w, struct rank *r)
{
    r->done = r->used = false;
    r->view = 0, r->came = 0, r->has_sum = false;
    r->joins_until = w->now + 300;
    agree_turn(&r->a);
}

static void drive(struct world *w, int me)
{
    struct rank *r = &w->r[me];
    if (r->done && r->resume && w->now >= r->resume) {
        r->resume = 0;
        begin_turn(w, r);
    }
    agree_tick(&r->a, w->now * STEP_S, heard(w, r));
    check_view(w, &r->a.mine);
    if (!r->done)
        take_part(w, me);
    check_view(w, &r->a.mine);
    if (r->a.changed || w->now % BEAT == 0)
        tell_all(w, me);
    if (w->now % 7 == 0)
        send_blocks(w, me);
}

/* The harness's: the next turn begins once all are done with this one. */
static void next_turn(struct world *w)
{
    int used = 0;
    for (int i = 0; i < w->n; i++) {
        if (!w->r[i].done || w->r[i].resume)
            return;
        used += w->r[i].used;
    }
    w->sums += used > 0;
    w->whole += used == w->n;
    w->fewer += used > 0 && used < w->n;
    for (int i = 0; i < w->n; i++)
        w->r[i].resume = w->now + 1 + (unsigned)(chance(w) * 10);
}

static void cut_rank(struct world *w, int r, bool down)
{
    for (int q = 0; q < w->n; q++)
        w->cut[r][q] = w->cut[q][r] = down;
}

static void disturb(struct world *w)
{
    int a = (int)rng_below(&w->rng, (uint64_t)w->n), b = (int)rng_below(&w->rng, (uint64_t)w->n);
    bool down = chance(w) < 0.5;
    double what = chance(w);
    if (what < 0.4)
        cut_rank(w, a, down);
    else if (what < 0.6)
        w->cut[a][b] = w->cut[b][a] = down;
    else if (what < 0.7)
        w->cut[a][b] = down; /* one direction */
    else if (what < 0.8)
        w->r[a].slow = w->now + 300;
    else if (what < 0.9)
        w->loss = chance(w) * 0.5;
    else
        memset(w->cut, 0, sizeof w->cut);
}

static struct world *open_world(int n, uint64_t seed)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    rng_stream(&w->rng, seed, (uint64_t)n);
    w->n = n;
    for (int i = 0; i < n; i++) {
        agree_open(&w->r[i].a, i, n);
        begin_turn(w, &w->r[i]);
    }
    return w;
}

static void run(struct world *w, double s)
{
    for (unsigned end = w->now + (unsigned)(s / STEP_S); w->now < end; w->now++) {
        land(w);
        for (int i = 0; i < w->n; i++)
            drive(w, i);
        next_turn(w);
    }
}

static void any_faults(void **state)
{
    (void)state;
    unsigned sums = 0, fewer = 0;
    for (uint64_t seed = 201; seed <= 260; seed++)
        for (int n = 3; n <= RANKS; n++) {
            struct world *w = open_world(n, seed);
            for (int fault = 0; fault < 20; fault++) {
                disturb(w);
                run(w, chance(w) * 3);
            }
            memset(w->cut, 0, sizeof w->cut);
            w->loss = 0;
            run(w, 20);
            unsigned whole = w->whole;
            run(w, 5);
            if (w->whole < whole + 3)
                print_message("seed %d, %d ranks\n", (int)seed, n);
            assert_true(w->whole >= whole + 3);
            sums += w->sums, fewer += w->fewer;
            free(w);
        }
    print_message("%u sums, %u of them without all ranks\n", sums, fewer);
    assert_true(sums > 1000 && fewer > 100);
}

/* After `s` seconds with this fault every rank of `in`, and no other, uses each sum. */
static void expect(struct world *w, double s, rank_set in)
{
    unsigned sums = w->sums;
    run(w, s);
    assert_true(w->sums > sums + 2);
    for (int i = 0; i < w->n; i++)
        if (in >> i & 1)
            assert_int_equal(w->r[i].a.mine.set, in);
}

/* ---- single words ---- */

static void hear(struct agree *a, int from, uint64_t count, struct agree_word w)
{
    w.count = count;
    agree_hear(a, from, &w);
}

/* What a ballot that asked was promised, an older one does not get. */
static void promises(void **state)
{
    (void)state;
    struct agree a;
    struct agree_word w = {.view = 1, .round = 1, .set = 7, .since = 1, .promised = 1};
    agree_open(&a, 0, 3);
    w.ballot = w.promised = 10, w.phase = AGREE_ASKS;
    hear(&a, 1, 1, w);
    assert_int_equal(a.mine.promised, 10);
    w.ballot = w.promised = 5, w.phase = AGREE_PROPOSES, w.proposal = 6;
    hear(&a, 2, 1, w);
    assert_int_equal(a.mine.voted, 0);
    agree_has_sum(&a, 1);
    assert_int_equal(a.mine.voted, 0);
    w.ballot = w.promised = 10, w.proposal = 3;
    hear(&a, 1, 2, w);
    assert_int_equal(a.mine.voted, 10);
    assert_int_equal(a.mine.value, 3);
    hear(&a, 1, 1, (struct agree_word){.view = 9}); /* an older word that comes late */
    assert_int_equal(a.mine.view, 1);
}

static void one_rank(void **state)
{
    (void)state;
    struct world *w = open_world(4, 1);
    expect(w, 5, 0xf);
    cut_rank(w, 0, true); /* the one that leads */
    run(w, 5);
    expect(w, 5, 0xe);
    cut_rank(w, 0, false);
    run(w, 5);
    expect(w, 5, 0xf);
    free(w);
}

/* Both hear all others; one of the two is left out, the same for all. */
static void one_pair(void **state)
{
    (void)state;
    struct world *w = open_world(4, 2);
    w->cut[0][1] = w->cut[1][0] = true;
    run(w, 10);
    rank_set set = w->r[2].a.mine.set;
    assert_true(set == 0xd || set == 0xe);
    expect(w, 5, set);
    free(w);
}

static void two_at_once(void **state)
{
    (void)state;
    struct world *w = open_world(5, 3);
    cut_rank(w, 1, true);
    cut_rank(w, 4, true);
    run(w, 5);
    expect(w, 5, 0xd);
    free(w);
    w = open_world(4, 3); /* the other two are no majority */
    cut_rank(w, 1, true);
    cut_rank(w, 3, true);
    run(w, 3);
    unsigned sums = w->sums;
    run(w, 10);
    assert_int_equal(w->sums, sums);
    free(w);
}

static void slow_one(void **state)
{
    (void)state;
    struct world *w = open_world(4, 4);
    run(w, 1);
    w->r[2].slow = w->now + 500; /* five times the time-out */
    run(w, 8);
    assert_int_equal(w->fewer, 0);
    expect(w, 5, 0xf);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises),    cmocka_unit_test(one_rank), cmocka_unit_test(one_pair),
        cmocka_unit_test(two_at_once), cmocka_unit_test(slow_one), cmocka_unit_test(any_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
