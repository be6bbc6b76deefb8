/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/present/agree.h"

#define FAST 1      /* the ballot that is for commit */
#define STUCK_S 2.0 /* a ballot without a decision is begun again */

/* What it says of the view that this rank is in; NULL: nothing. */
static const struct agree_word *word_of(const struct agree *a, int rank)
{
    const struct agree_word *w = rank == a->me ? &a->mine : &a->of[rank];
    return w->view == a->mine.view ? w : NULL;
}

bool agree_majority(const struct agree *a, rank_set s)
{
    return 2 * ranks_in(s) > a->ranks;
}

void agree_open(struct agree *a, int me, int ranks)
{
    rank_set all = ranks == 64 ? ~(rank_set)0 : rank_bit(ranks) - 1;
    *a = (struct agree){
        .me = me, .ranks = ranks, .since_s = -1, .highest = FAST, .part = all, .changed = true};
    a->mine = (struct agree_word){
        .view = 1, .round = 1, .since = 1, .set = all, .hears = all, .promised = FAST};
}

/* ---- views ---- */

static void enter(struct agree *a, const struct agree_word *at)
{
    struct agree_word *m = &a->mine;
    m->view = at->view, m->round = at->round, m->set = at->set;
    m->since = at->since, m->committed = at->committed;
    m->promised = a->highest = FAST;
    m->voted = m->value = m->ballot = m->proposal = 0;
    m->phase = AGREE_QUIET;
    m->began = m->has_sum = a->yields = false;
    a->since_s = -1, a->wait_s = 0, a->losses = 0;
    a->changed = true;
}

static void decided(struct agree *a, uint64_t value)
{
    struct agree_word next = a->mine;
    next.view++;
    if (value == AGREE_COMMIT) {
        next.round++;
        next.committed = a->mine.view;
    } else {
        next.set = value;
        next.since = next.view;
    }
    enter(a, &next);
}

/* A vote for commit unasked counts once all of the set have the sum: nobody is left behind. */
static void learn(struct agree *a)
{
    for (int r = 0; r < a->ranks; r++) {
        const struct agree_word *w = word_of(a, r);
        rank_set alike = 0;
        for (int q = 0; w && w->voted && q < a->ranks; q++) {
            const struct agree_word *x = word_of(a, q);
            alike |= x && x->voted == w->voted ? rank_bit(q) : 0;
        }
        if (w && agree_majority(a, alike) && (w->voted > FAST || !(a->mine.set & ~alike))) {
            decided(a, w->value);
            return;
        }
    }
}

/* ---- votes ---- */

static void vote(struct agree *a, uint64_t ballot, uint64_t value)
{
    a->mine.promised = a->mine.voted = ballot;
    a->mine.value = value;
    a->changed = true;
}

void agree_has_sum(struct agree *a, uint64_t view)
{
    if (view != a->mine.view || a->mine.has_sum)
        return;
    a->mine.has_sum = a->changed = true;
    if (a->mine.promised > FAST || a->mine.voted) /* then wants_ballot() */
        return;
    vote(a, FAST, AGREE_COMMIT);
    learn(a);
}

static void answer(struct agree *a, const struct agree_word *w)
{
    struct agree_word *m = &a->mine;
    a->highest = w->promised > a->highest ? w->promised : a->highest;
    if (w->phase >= AGREE_ASKS && w->ballot > m->promised) {
        m->promised = w->ballot;
        a->yields = a->changed = true;
    }
    if (w->phase == AGREE_PROPOSES && w->ballot >= m->promised && w->ballot > m->voted)
        vote(a, w->ballot, w->proposal);
}

void agree_hear(struct agree *a, int from, const struct agree_word *w)
{
    if (w->count <= a->of[from].count)
        return;
    a->of[from] = *w;
    if (w->view > a->mine.view)
        enter(a, w);
    if (w->view == a->mine.view) {
        answer(a, w);
        learn(a);
    }
}

/* ---- ballots of this rank ---- */

static void ask(struct agree *a, double now_s)
{
    struct agree_word *m = &a->mine;
    uint64_t n = (uint64_t)a->ranks;
    m->ballot = a->highest = (a->highest / n + 1) * n + (uint64_t)a->me;
    m->promised = m->ballot;
    m->phase = AGREE_ASKS;
    a->since_s = now_s;
    a->changed = true;
}

/* The largest set of them that all hear each other, nearly: the one that misses most leaves. */
static rank_set hear_each_other(const struct agree *a, rank_set s)
{
    for (;;) {
        int worst = -1, most = 0;
        for (int r = 0; r < a->ranks; r++) {
            int misses = 0;
            for (int q = 0; rank_in(s, r) && q < a->ranks; q++)
                misses += q != r && rank_in(s, q) &&
                          (!rank_in(word_of(a, r)->hears, q) || !rank_in(word_of(a, q)->hears, r));
            if (misses && misses >= most)
                worst = r, most = misses;
        }
        if (worst < 0)
            return s;
        s &= ~rank_bit(worst);
    }
}

/* A new set, if one of this is missed or may return; else commit, once all have the sum. False:
 * neither yet. */
static bool choose(const struct agree *a, rank_set promised, uint64_t *value)
{
    rank_set set = a->mine.set, have = 0;
    *value = hear_each_other(a, promised & a->part);
    if (set & ~a->part || !a->mine.began)
        return agree_majority(a, *value);
    *value = AGREE_COMMIT;
    for (int r = 0; r < a->ranks; r++)
        have |= word_of(a, r) && word_of(a, r)->has_sum ? rank_bit(r) : 0;
    return !(set & ~have);
}

/* What others voted for last may be decided, and is then proposed again. Votes for commit unasked
 * count only from all of the set: if one of it has promised without such a vote, they are void. A
 * free ballot waits for all that can be heard: who is only slow is not left out. */
static void propose(struct agree *a)
{
    struct agree_word *m = &a->mine;
    const struct agree_word *last = m;
    rank_set promised = 0, unasked = 0;
    for (int r = 0; r < a->ranks; r++) {
        const struct agree_word *w = word_of(a, r);
        if (!w || w->promised != m->ballot)
            continue;
        promised |= rank_bit(r);
        unasked |= w->voted >= FAST ? rank_bit(r) : 0;
        last = w->voted > last->voted ? w : last;
    }
    bool bound = last->voted > FAST || !(m->set & promised & ~unasked);
    if (!agree_majority(a, promised) || (!bound && a->part & ~promised))
        return;
    m->proposal = last->value;
    if (!bound && !choose(a, promised, &m->proposal))
        return;
    m->phase = AGREE_PROPOSES;
    vote(a, m->ballot, m->proposal);
    learn(a);
}

/* Another rank's ballot came first, or this one's is stuck: it is given time to end, another time
 * after each. */
static void yield(struct agree *a, double now_s)
{
    unsigned place = ((unsigned)a->me + 3 * a->losses++) % (unsigned)a->ranks;
    a->changed |= a->mine.phase != AGREE_QUIET;
    a->mine.phase = AGREE_QUIET;
    a->yields = false;
    a->since_s = now_s;
    a->wait_s = AGREE_STEP_S * (2 + place);
}

/* ---- who is there ---- */

static rank_set taking_part(const struct agree *a, rank_set hears)
{
    rank_set s = hears;
    for (int r = 0; r < a->ranks; r++)
        if (r != a->me && a->of[r].out && a->of[r].turn >= a->mine.turn)
            s &= ~rank_bit(r);
    return a->mine.out ? s & ~rank_bit(a->me) : s;
}

/* The first rank of the set that is heard; -1: none. */
static int leader(const struct agree *a)
{
    rank_set s = a->mine.set & a->part;
    return s ? __builtin_ctzll(s) : -1;
}

bool agree_leads(const struct agree *a)
{
    return leader(a) == a->me;
}

bool agree_is_over(const struct agree *a)
{
    int first = leader(a);
    const struct agree_word *w = first < 0 ? NULL : word_of(a, first);
    for (int r = 0; r < a->ranks; r++)
        if (r != a->me && a->of[r].used && a->of[r].turn >= a->mine.turn)
            return true;
    bool shut_out = !rank_in(a->mine.set, a->me) && w && w->began && w->turn >= a->mine.turn;
    return shut_out || !agree_majority(a, a->part);
}

rank_set agree_returning(const struct agree *a)
{
    rank_set back = a->part & ~a->mine.set;
    for (int r = 0; r < a->ranks; r++) {
        const struct agree_word *w = word_of(a, r);
        if (rank_in(a->mine.set, r))
            back &= w ? w->hears : 0;
        else if (rank_in(back, r) && (!w || a->mine.set & ~w->hears))
            back &= ~rank_bit(r);
    }
    return hear_each_other(a, back | rank_bit(a->me)) & back;
}

/* A ballot is due: one of the set is missed, or one may come back and nothing has begun. */
static bool wants_ballot(const struct agree *a)
{
    const struct agree_word *m = &a->mine;
    return rank_in(m->set, a->me) && agree_majority(a, a->part) &&
           (m->set & ~a->part || (m->has_sum && m->promised > FAST) ||
            (agree_leads(a) && !m->began && !m->voted && agree_returning(a)));
}

void agree_tick(struct agree *a, double now_s, rank_set hears)
{
    struct agree_word *m = &a->mine;
    rank_set before = m->hears;
    m->hears = hears | rank_bit(a->me);
    a->changed |= m->hears != before;
    a->part = taking_part(a, m->hears);
    if (m->phase == AGREE_QUIET && !wants_ballot(a)) {
        a->since_s = -1;
        return;
    }
    if (a->since_s <
        0) { /* the first of the set that can be heard at once, the second a step later */
        a->since_s = now_s;
        a->wait_s = AGREE_STEP_S * ranks_in(m->set & a->part & (rank_bit(a->me) - 1));
    }
    if (a->yields || (m->phase != AGREE_QUIET && now_s - a->since_s > STUCK_S))
        yield(a, now_s);
    else if (m->phase == AGREE_QUIET && now_s - a->since_s >= a->wait_s)
        ask(a, now_s);
    if (m->phase == AGREE_ASKS)
        propose(a);
}

/* ---- this rank ---- */

void agree_turn(struct agree *a)
{
    a->mine.turn++;
    for (int r = 0; r < a->ranks; r++)
        a->mine.turn = a->of[r].turn > a->mine.turn ? a->of[r].turn : a->mine.turn;
    a->mine.out = a->mine.used = a->mine.began = false;
    a->changed = true;
}

void agree_did(struct agree *a, bool *what)
{
    *what = a->changed = true;
}
