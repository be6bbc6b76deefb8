/* SPDX-License-Identifier: Apache-2.0 */
#include "price/trial_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Without the white space at both ends; in place. */
static inline char *trim(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    for (char *end = s + strlen(s); end > s && isspace((unsigned char)end[-1]);)
        *--end = '\0';
    return s;
}

/* ---- the file of a trial ---- */

static const struct key {
    const char *name;
    size_t offset;
    uint64_t fallback, most;
} keys[] = {
    {"seed", offsetof(struct trial_config, seed), 1, UINT64_MAX},
    {"steps", offsetof(struct trial_config, steps), 0, TRIAL_STEPS},
    {"visit_ms", offsetof(struct trial_config, visit_ms), 2000, 3600000},
    {"warmup", offsetof(struct trial_config, warmup), 20, 1000000},
    {"blocks", offsetof(struct trial_config, blocks), 0, 1000000},
    {"seconds", offsetof(struct trial_config, seconds), 0, 60000000},
    {"calls", offsetof(struct trial_config, calls), 0, 32768},
    {"ranks", offsetof(struct trial_config, ranks), 0, 1 << 24},
    {"bytes_least", offsetof(struct trial_config, bytes_least), 0, UINT64_MAX},
    {"bytes_most", offsetof(struct trial_config, bytes_most), 0, UINT64_MAX},
};
#define KEYS (sizeof keys / sizeof *keys)

static uint64_t *member(struct trial_config *c, const struct key *k)
{
    return (uint64_t *)((char *)c + k->offset);
}

static bool set_number(struct trial_config *c, const struct key *k, const char *value)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(value, &end, 10);
    *member(c, k) = v;
    return isdigit((unsigned char)*value) && !*end && !errno && v <= k->most;
}

static bool add_arm(struct trial_config *c, const char *label)
{
    struct trial_arm *arm = &c->arms[c->n_arms];
    if (c->n_arms == TRIAL_ARMS || strlen(label) >= sizeof arm->label ||
        !choice_parse(&arm->choice, label))
        return false;
    strcpy(arm->label, label);
    c->n_arms++;
    return true;
}

static bool set(struct trial_config *c, const char *key, const char *value)
{
    if (!strcmp(key, "arm"))
        return add_arm(c, value);
    if (!strcmp(key, "out")) {
        snprintf(c->out, sizeof c->out, "%s", value);
        return *value == '/' && strlen(value) < sizeof c->out;
    }
    for (size_t i = 0; i < KEYS; i++)
        if (!strcmp(key, keys[i].name))
            return set_number(c, &keys[i], value);
    return false;
}

static bool take_line(struct trial_config *c, char *line)
{
    char *value = trim(line);
    if (!*value || *value == '#')
        return true;
    char *key = strsep(&value, "=");
    return value && set(c, trim(key), trim(value));
}

bool trial_config_read(struct trial_config *c, const char *path, char *why, size_t n)
{
    char *line = NULL;
    size_t cap = 0, at = 0;
    bool good = true;
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < KEYS; i++)
        *member(c, &keys[i]) = keys[i].fallback;
    FILE *f = fopen(path, "re");
    if (!f) {
        snprintf(why, n, "%s: cannot be read: %s", path, strerror(errno));
        return false;
    }
    while (good && getline(&line, &cap, f) >= 0) {
        at++;
        good = take_line(c, line);
    }
    fclose(f);
    if (!good)
        snprintf(why, n, "%s:%zu: unknown key, or invalid value", path, at);
    else if (!*c->out || c->n_arms < 2)
        snprintf(why, n, "%s: needs 'out', and two arms or more", path);
    free(line);
    return good && *c->out && c->n_arms >= 2;
}

/* ---- the sequence of calls ----
 *
 * Finds the training step in the sequence of calls of one communicator, and follows it.
 *
 * Each call is written as a word: its collective and bytes. A step is a period of these words. A short
 * period may hold for long without being a step: FSDP repeats the same sizes layer by layer. So:
 *   - A period is accepted once it has held for 4 periods and at least 64 calls; for 256 calls if it
 *     has up to 4 calls, as a layer of FSDP has.
 *   - After the sequence has left the step 3, 6, 12, ... times, a longer period that explains those
 *     calls too replaces it. It is at most 16 times as long, or of any length if the shorter one has
 *     up to 4 calls.
 *   - Calls between steps (evaluation, logging) only interrupt. The step is followed again after it
 *     has passed once from end to end. Another sequence replaces the step once it has held for longer
 *     than the step did, or for 32768 calls.
 *   - A number of calls that the user gives is accepted once it has held for two periods.
 *
 * Everything follows from the words alone. All ranks of a communicator see the same words, so they
 * find the same step at the same call.
 */

static inline uint64_t seq_word(int func, size_t bytes)
{
    return (uint64_t)bytes << 4 | ((uint64_t)func & 15);
}

#define PAST 65536 /* words kept; a step has at most a quarter of them */
#define LAYER 4    /* a period of up to so many words may be a layer */
/* A longer period has at most so many times the words of the shorter; any number for a layer. */
#define LONGER 16
#define PERIODS_LEAST 4
#define CALLS_LEAST 64 /* for which a period must hold */
#define CALLS_LAYER 256

void seq_begin(struct sequence *s, size_t told)
{
    *s = (struct sequence){.told = told <= PAST / 2 ? told : 0, .look = CALLS_LEAST};
}

void seq_end(struct sequence *s)
{
    free(s->past);
    free(s->pattern);
    free(s->back);
    *s = (struct sequence){0};
}

/* Without memory it forgets the words, and finds no step. */
static void remember(struct sequence *s, uint64_t word)
{
    if (s->n == PAST) {
        memmove(s->past, s->past + PAST / 2, PAST / 2 * sizeof *s->past);
        s->n = PAST / 2;
    } else if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 1024;
        uint64_t *past = realloc(s->past, cap * sizeof *past);
        if (!past) {
            s->n = 0;
            return;
        }
        s->past = past;
        s->cap = cap;
    }
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
        bytes += s->past[s->n - p] >> 4;
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

/* The step begins where the period began to hold, which usually is the first step. */
static bool follow(struct sequence *s, size_t period)
{
    size_t run = run_of(s, period);
    uint64_t *pattern = malloc(period * sizeof *pattern);
    uint32_t *back = malloc(period * sizeof *back);
    if (!pattern || !back) {
        free(pattern);
        free(back);
        return false;
    }
    memcpy(pattern, s->past + s->n - run, period * sizeof *pattern);
    make_back(back, pattern, period);
    free(s->pattern);
    free(s->back);
    s->pattern = pattern;
    s->back = back;
    s->period = period;
    s->at = run % period;
    s->following = true;
    s->held = s->run = run;
    s->breaks = 0;
    s->away = 0;
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

/* The time of a search grows with the words kept, so searches become rarer. */
static bool look(struct sequence *s)
{
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

enum seq_event seq_call(struct sequence *s, int func, size_t bytes)
{
    uint64_t word = seq_word(func, bytes);
    remember(s, word);
    if (!s->following)
        return stray(s, word);
    if (s->pattern[s->at] != word)
        return leave(s, word);
    s->run++;
    s->at++;
    if (s->at == s->period)
        s->at = 0;
    return s->at == 1 || s->period == 1 ? SEQ_STEP : SEQ_INSIDE;
}
