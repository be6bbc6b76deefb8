/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sequence.h"

#include "common/clock.h"

#include <stdlib.h>
#include <string.h>

#define INSIDE 16u

uint64_t seq_word(int func, unsigned comm, size_t bytes, bool inside)
{
    return (uint64_t)bytes << 12 | (uint64_t)(comm & 127) << 5 | (inside ? INSIDE : 0) |
           ((uint64_t)func & 15);
}

#define PAST 65536 /* words kept; a step has at most a quarter of them */
#define LAYER 4    /* a period of up to so many words may be a layer */
/* A longer period has at most so many times the words of the shorter; any number for a layer. */
#define LONGER 16
#define PERIODS_LEAST 4
#define CALLS_LEAST 64 /* for which a period must hold */
#define CALLS_LAYER 256
#define SLOW_PERIODS 3 /* are enough if the calls take long */
#define SLOW_NS 2000000000u
#define SLOW_CALLS 4096 /* longer steps are found by the number of their calls */
/* After so many periods the lanes ask each other whether a step has several periods. A step has at most `most`. */
#define JOIN_MOST 192
#define JOIN_RATIO 1.5 /* of the pause before a step to the next longest one */
static const struct {
    unsigned after, most;
} joins[] = {{16, 3}, {48, 8}, {JOIN_MOST, 8}};
#define JOINS (sizeof joins / sizeof *joins)

void seq_begin(struct sequence *s, size_t told, size_t (*agree)(void *, uint64_t, size_t),
               void *ctx)
{
    *s = (struct sequence){
        .told = told <= PAST / 2 ? told : 0, .look = CALLS_LEAST, .agree = agree, .ctx = ctx};
}

void seq_end(struct sequence *s)
{
    free(s->past);
    free(s->when_ns);
    free(s->pattern);
    free(s->back);
    *s = (struct sequence){0};
}

/* Without memory it forgets the words, and finds no step. */
static void remember(struct sequence *s, uint64_t word)
{
    if (s->n == PAST) {
        memmove(s->past, s->past + PAST / 2, PAST / 2 * sizeof *s->past);
        memmove(s->when_ns, s->when_ns + PAST / 2, PAST / 2 * sizeof *s->when_ns);
        s->n = PAST / 2;
    } else if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 1024;
        uint64_t *past = realloc(s->past, cap * sizeof *past);
        s->past = past ? past : s->past;
        uint64_t *when = past ? realloc(s->when_ns, cap * sizeof *when) : NULL;
        s->when_ns = when ? when : s->when_ns;
        if (!when) {
            s->n = 0;
            return;
        }
        s->cap = cap;
    }
    bool known = s->following && s->pattern[s->at] == word;
    s->when_ns[s->n] = known && (s->period > LAYER || s->timed == JOINS) ? 0 : now_ns();
    s->past[s->n++] = word;
}

/* ---- periods ---- */

static uint64_t need(size_t period, uint64_t least)
{
    uint64_t calls = PERIODS_LEAST * (uint64_t)period;
    uint64_t floor = period <= LAYER ? CALLS_LAYER : CALLS_LEAST;
    least = least > floor ? least : floor;
    return calls > least ? calls : least;
}

/* The number of latest words for which the period holds. */
static size_t run_of(const struct sequence *s, size_t period)
{
    size_t i = 0;
    if (period >= s->n)
        return 0;
    while (i + period < s->n && s->past[s->n - 1 - i] == s->past[s->n - 1 - i - period])
        i++;
    return i + period;
}

/* The Z function of the words, latest first: the z[p] + p latest words have the period p. */
static void z_function(const struct sequence *s, uint32_t *z)
{
    const uint64_t *last = s->past + s->n - 1;
    size_t left = 0, right = 0;
    for (size_t i = 1; i < s->n; i++) {
        size_t k = 0;
        if (i < right)
            k = z[i - left] < right - i ? z[i - left] : right - i;
        while (i + k < s->n && *(last - k) == *(last - i - k))
            k++;
        z[i] = (uint32_t)k;
        if (i + k > right) {
            left = i;
            right = i + k;
        }
    }
}

/* The shortest period above `above` and up to `most` that holds long enough; 0: none. Words that
 * repeat with a shorter period have this one too, and are no step of this length. */
static size_t shortest(const struct sequence *s, size_t above, size_t most, uint64_t least)
{
    size_t found = 0, shorter = 0; /* the longest run of a shorter period */
    uint64_t bytes = 0;            /* of a period */
    uint64_t bytes_most = s->bytes_most ? s->bytes_most : UINT64_MAX;
    uint32_t *z = s->n ? malloc(s->n * sizeof *z) : NULL;
    if (!z)
        return 0;
    z_function(s, z);
    for (size_t p = 1; p < s->n && p <= most && !found; p++) {
        size_t run = z[p] + p;
        bytes += seq_bytes(s->past[s->n - p]);
        if (p > above && run >= need(p, least) && shorter < 2 * p && bytes >= s->bytes_least &&
            bytes <= bytes_most)
            found = p;
        shorter = run > shorter ? run : shorter;
    }
    free(z);
    return found;
}

/* ---- the pattern ---- */

static void make_back(uint32_t *back, const uint64_t *pattern, size_t n)
{
    back[0] = 0;
    for (size_t i = 1, k = 0; i < n; i++) {
        while (k && pattern[i] != pattern[k])
            k = back[k - 1];
        k += pattern[i] == pattern[k];
        back[i] = (uint32_t)k;
    }
}

/* The words from `from` on are the pattern. */
static bool take_pattern(struct sequence *s, size_t from, size_t period)
{
    uint64_t *pattern = malloc(period * sizeof *pattern);
    uint32_t *back = malloc(period * sizeof *back);
    if (!pattern || !back) {
        free(pattern);
        free(back);
        return false;
    }
    memcpy(pattern, s->past + from, period * sizeof *pattern);
    make_back(back, pattern, period);
    free(s->pattern);
    free(s->back);
    s->pattern = pattern;
    s->back = back;
    s->period = period;
    for (s->first = 0; s->first + 1 < period && pattern[s->first] & INSIDE;)
        s->first++;
    s->breaks = 0;
    s->away = 0;
    s->timed = 0;
    return true;
}

/* Collectives of one kind with different bytes, as the buckets of gradients are; the calls of a layer have equal bytes. */
static bool are_buckets(const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (seq_bytes(words[i]) == seq_bytes(words[k]) || (words[i] ^ words[k]) & 15)
                return false;
    return n > 1;
}

/* A period may be a step some times and a few calls of a log. So few calls that they may be a layer are a step only
 * if they are buckets. The words of the step; 0: it is not so. */
static size_t step_inside(const struct sequence *s, size_t period, size_t *from)
{
    for (size_t q = 1; q <= period / 4; q++) {
        size_t run = 0;
        for (size_t i = s->n - 2 * period + q; i < s->n; i++) {
            run = s->past[i] == s->past[i - q] ? run + 1 : 0;
            *from = i + 1 - run - q;
            if (5 * (run + q) >= 4 * period)
                return q > LAYER || are_buckets(s->past + *from, q) ? q : 0;
        }
    }
    return 0;
}

/* The step begins where the period began to hold, which usually is the first step. */
static bool follow(struct sequence *s, size_t period)
{
    size_t run = run_of(s, period), from = 0, inside = s->told ? 0 : step_inside(s, period, &from);
    if (inside) {
        if (inside == s->period || !take_pattern(s, from, inside))
            return false;
        s->at = s->run = 0;
        s->held = run;
        s->following = false;
        return true;
    }
    if (!take_pattern(s, s->n - run, period))
        return false;
    s->at = run % period;
    s->following = true;
    s->held = s->run = run;
    return true;
}

/* The number of words of the pattern just seen, from the number before this word. */
static size_t advance(const struct sequence *s, size_t seen, uint64_t word)
{
    if (seen == s->period)
        seen = s->back[seen - 1];
    while (seen && s->pattern[seen] != word)
        seen = s->back[seen - 1];
    return seen + (s->pattern[seen] == word);
}

/* The longest period that may replace the pattern. */
static size_t longest(const struct sequence *s)
{
    return !s->period || s->period <= LAYER ? PAST : LONGER * s->period;
}

/* ---- calls ---- */

/* The shortest period of three or more times, which took long. */
static size_t slow_period(const struct sequence *s)
{
    size_t most = s->told ? s->told : longest(s);
    for (size_t p = s->told ? s->told : 1; p <= most && SLOW_PERIODS * p <= s->n && p <= s->away;
         p++) {
        size_t run = run_of(s, p);
        run = run < s->away ? run : s->away;
        if (run >= SLOW_PERIODS * p && s->when_ns[s->n - 1] - s->when_ns[s->n - run] >= SLOW_NS)
            return p;
    }
    return 0;
}

/* The lanes ask each other at the 3rd to 15th call after the step was left, and then ever more rarely. */
static bool look_slowly(struct sequence *s)
{
    uint64_t n = s->away;
    while (n > 15 && n % 2 == 0)
        n /= 2;
    if (!s->agree || s->away < 3 || s->away > SLOW_CALLS || n > 15 ||
        (s->period && s->away <= s->held))
        return false;
    size_t period = s->agree(s->ctx, s->away, slow_period(s));
    return period && period < PAST / 2 && run_of(s, period) >= 2 * period && follow(s, period);
}

/* The time of a search grows with the words kept, so searches become rarer. */
static bool look(struct sequence *s)
{
    if (look_slowly(s))
        return true;
    if (s->away < s->look)
        return false;
    uint64_t wait = s->told ? s->told / 4 + 16 : s->look / 4;
    s->look += wait;
    if (s->told)
        return s->told != s->period && run_of(s, s->told) >= 2 * s->told && follow(s, s->told);
    uint64_t least = s->held < PAST / 2 ? s->held + 1 : PAST / 2;
    size_t period = shortest(s, 0, longest(s), s->period ? least : 0);
    return period && follow(s, period);
}

static int compare_ns(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* One in m of the gaps stands out by so much: what three fifths of these exceed, to what two fifths of each other one in m
 * exceed. 0: they are hardly longer than the mean, so they only vary. */
static double stands_out(unsigned m, const uint64_t *gaps, unsigned n)
{
    uint64_t low[8], high[8], sum = 0, second = 1;
    unsigned first = 0;
    for (unsigned k = 0; k < m; k++) {
        uint64_t of[JOIN_MOST];
        unsigned count = 0;
        for (unsigned i = k; i < n; i += m)
            sum += of[count++] = gaps[i];
        qsort(of, count, sizeof *of, compare_ns);
        low[k] = of[2 * count / 5];
        high[k] = of[3 * count / 5];
        first = low[k] > low[first] ? k : first;
    }
    for (unsigned k = 0; k < m; k++)
        second = k != first && high[k] > second ? high[k] : second;
    return 5 * low[first] * n > 6 * sum ? (double)low[first] / (double)second : 0;
}

/* How many periods are a step, by the time between their beginnings; 0: one. */
static size_t periods_of_step(const struct sequence *s, unsigned periods, unsigned most)
{
    uint64_t gaps[JOIN_MOST];
    size_t begin = s->n - s->period, found = 0;
    double best = JOIN_RATIO;
    if (periods * s->period > s->n)
        return 0;
    for (unsigned i = 0; i + 1 < periods; i++, begin -= s->period) {
        uint64_t to = s->when_ns[begin], from = s->when_ns[begin - s->period];
        if (!from || to < from)
            return 0;
        gaps[i] = to - from;
    }
    for (unsigned m = 2; m <= most; m++) {
        double ratio = stands_out(m, gaps, periods - 1);
        if (ratio > best) {
            best = ratio;
            found = m;
        }
    }
    return found;
}

/* At the end of a period. True: some of them are a step from now on. */
static bool join_periods(struct sequence *s)
{
    if (s->told || !s->agree || s->period > LAYER || s->timed == JOINS ||
        s->run < joins[s->timed].after * s->period)
        return false;
    unsigned after = joins[s->timed].after, most = joins[s->timed].most;
    s->timed++;
    size_t m = s->agree(s->ctx, s->run, periods_of_step(s, after, most));
    size_t period = m * s->period;
    if (m < 2 || m > most || period > s->n || run_of(s, s->period) < period ||
        !take_pattern(s, s->n - period, period))
        return false;
    s->timed = JOINS;
    return true;
}

/* The word was not the expected one. */
static enum seq_event leave(struct sequence *s, uint64_t word)
{
    unsigned breaks = ++s->breaks;
    s->held = s->run > s->held ? s->run : s->held;
    s->following = false;
    s->away = 1;
    s->look = s->told ? 2 * s->told : CALLS_LEAST;
    s->at = advance(s, s->at, word);
    while (breaks > 3 && breaks % 2 == 0)
        breaks /= 2;
    if (breaks == 3 && !s->told) {
        size_t period = shortest(s, s->period, longest(s), 0);
        if (period && follow(s, period))
            return SEQ_FOUND;
    }
    return SEQ_LOST;
}

static enum seq_event stray(struct sequence *s, uint64_t word)
{
    s->away++;
    if (s->period) {
        s->at = advance(s, s->at, word);
        if (s->at == s->period) {
            s->following = true;
            s->run = s->period;
            s->at = 0;
            return SEQ_AWAY;
        }
    }
    return look(s) ? SEQ_FOUND : SEQ_AWAY;
}

enum seq_event seq_call(struct sequence *s, uint64_t word)
{
    remember(s, word);
    if (!s->following)
        return stray(s, word);
    if (s->pattern[s->at] != word)
        return leave(s, word);
    bool begins = s->at == s->first;
    s->run++;
    s->at = (s->at + 1) % s->period;
    if (!s->at && join_periods(s))
        return SEQ_FOUND;
    return begins ? SEQ_STEP : SEQ_INSIDE;
}
