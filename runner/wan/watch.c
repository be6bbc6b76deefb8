/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include "err.h"
#include "text.h"
#include "watch_patterns.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERNS_MAX 16
#define GROUPS 8
#define SHOWN 3            /* lines of a kind of trouble that are printed; the rest is counted */
#define SLOW_FIRST 1.5     /* first steps slower than later ones by so much are named */
#define STALL_LEAST_S 60.0 /* silence shorter than this is none */
#define STALL_STEPS 10.0
#define EXCERPT 160

struct reader {
    regex_t regex;
    enum watch_meaning meaning;
};

struct watch {
    struct watch_options o;
    struct reader rates[PATTERNS_MAX], times[PATTERNS_MAX], steps[PATTERNS_MAX];
    size_t n_rates, n_times, n_steps;
    regex_t troubles[PATTERNS_MAX];
    size_t n_troubles, seen[PATTERNS_MAX];
    struct rolling rate, step_s; /* after the warm-up */
    struct rolling first_s;      /* during it */
    size_t lines, measured, flagged;
    long long step; /* number of the last one; -1: none said */
    bool below, stalled, first_said;
};

/* ---- numbers ---- */

/* "7,123", "1.5e6", "1.2M"; 0 when there is none. */
static double number(const char *s, size_t n)
{
    char digits[64];
    size_t k = 0;
    double unit = 1;
    for (size_t i = 0; i < n && k < sizeof digits - 1; i++)
        if (s[i] != ',')
            digits[k++] = s[i];
    digits[k] = '\0';
    if (k) {
        const char *at = strchr("kmg", tolower((unsigned char)digits[k - 1]));
        unit = at ? pow(1000, (double)(at - "kmg" + 1)) : 1;
    }
    return strtod(digits, NULL) * unit;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const struct rolling *r)
{
    double sorted[WATCH_WINDOW_MAX];
    if (!r->n)
        return 0;
    memcpy(sorted, r->v, r->n * sizeof *sorted);
    qsort(sorted, r->n, sizeof *sorted, ascending);
    return (sorted[r->n / 2] + sorted[(r->n - 1) / 2]) / 2;
}

static void roll(struct rolling *r, double x, size_t window)
{
    r->v[r->next] = x;
    r->next = (r->next + 1) % window;
    r->n += r->n < window;
}

/* ---- patterns ---- */

static bool compile(regex_t *regex, const char *text)
{
    return !regcomp(regex, text, REG_EXTENDED | REG_ICASE);
}

static void add(struct reader *r, size_t *n, const char *text, enum watch_meaning meaning)
{
    if (*n < PATTERNS_MAX && compile(&r[*n].regex, text))
        r[(*n)++].meaning = meaning;
}

static int add_own(struct watch *w, const char *pattern)
{
    bool step = !strncmp(pattern, "step:", strlen("step:"));
    const char *text = step ? pattern + strlen("step:") : pattern;
    struct reader *r = step ? &w->times[w->n_times] : &w->rates[w->n_rates];
    char why[200];
    int error = regcomp(&r->regex, text, REG_EXTENDED | REG_ICASE);
    if (error) {
        regerror(error, &r->regex, why, sizeof why);
        return fail(GS_USAGE, "watch: --pattern '%s': %s", text, why);
    }
    r->meaning = step ? WATCH_STEP : WATCH_RATE;
    *(step ? &w->n_times : &w->n_rates) += 1;
    if (!r->regex.re_nsub)
        return fail(GS_USAGE, "watch: --pattern '%s': no (group) that holds the number", text);
    return GS_OK;
}

struct watch *watch_new(const struct watch_options *o)
{
    struct watch *w = xcalloc(1, sizeof *w);
    w->o = *o;
    w->step = -1;
    if (o->pattern && add_own(w, o->pattern)) {
        watch_free(w);
        return NULL;
    }
    for (const struct watch_pattern *p = watch_rates; !o->pattern && p->text; p++)
        add(w->rates, &w->n_rates, p->text, p->meaning);
    for (const struct watch_pattern *p = watch_times; !o->pattern && p->text; p++)
        add(w->times, &w->n_times, p->text, p->meaning);
    for (const char *const *s = watch_steps; *s; s++)
        add(w->steps, &w->n_steps, *s, WATCH_STEP);
    for (const struct watch_trouble *t = watch_troubles; t->text; t++)
        w->n_troubles += compile(&w->troubles[w->n_troubles], t->text);
    return w;
}

static void free_readers(struct reader *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        regfree(&r[i].regex);
}

void watch_free(struct watch *w)
{
    if (!w)
        return;
    free_readers(w->rates, w->n_rates);
    free_readers(w->times, w->n_times);
    free_readers(w->steps, w->n_steps);
    for (size_t i = 0; i < w->n_troubles; i++)
        regfree(&w->troubles[i]);
    free(w);
}

/* The first group that begins with a digit, of the first expression that matches. NULL: none. */
static const char *find_digits(const struct reader *r, size_t n, const char *line, size_t *length,
                               enum watch_meaning *meaning)
{
    regmatch_t m[GROUPS];
    for (size_t i = 0; i < n; i++) {
        if (regexec(&r[i].regex, line, GROUPS, m, 0))
            continue;
        for (size_t g = 1; g < GROUPS; g++)
            if (m[g].rm_so >= 0 && isdigit((unsigned char)line[m[g].rm_so])) {
                *meaning = r[i].meaning;
                *length = (size_t)(m[g].rm_eo - m[g].rm_so);
                return line + m[g].rm_so;
            }
    }
    return NULL;
}

static double find(const struct reader *r, size_t n, const char *line, enum watch_meaning *meaning)
{
    size_t length;
    const char *digits = find_digits(r, n, line, &length, meaning);
    return digits ? number(digits, length) : 0;
}

/* ---- what was measured ---- */

__attribute__((format(printf, 2, 3))) static void flag(struct watch *w, const char *fmt, ...)
{
    va_list args;
    w->flagged++;
    printf("line %zu: ", w->lines);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
}

/* Tokens/s without an exponent. */
struct rate_text {
    char s[32];
};

static struct rate_text rate_text(double rate)
{
    struct rate_text t;
    snprintf(t.s, sizeof t.s, rate < 1000 ? "%.4g" : "%.0f", rate);
    return t;
}

static void print_rolling(const struct watch *w)
{
    double rate = median(&w->rate), step = median(&w->step_s);
    if (w->step >= 0)
        printf("step %lld:", w->step);
    else
        printf("measurement %zu:", w->measured);
    if (rate > 0)
        printf(" %s tokens/s", rate_text(rate).s);
    if (rate > 0 && w->o.expected_rate > 0)
        printf(" (%.0f%% of the %s expected)", 100 * rate / w->o.expected_rate,
               rate_text(w->o.expected_rate).s);
    if (step > 0)
        printf("%s %.4g s a step", rate > 0 ? "," : "", step);
    if (step > 0 && w->o.expected_step_s > 0)
        printf(" (%.4g expected)", w->o.expected_step_s);
    putchar('\n');
}

static void judge_rate(struct watch *w)
{
    double rate = median(&w->rate);
    size_t enough = w->o.window < 5 ? w->o.window : 5;
    bool below = rate < w->o.threshold;
    if (w->o.threshold <= 0 || w->rate.n < enough || below == w->below)
        return;
    w->below = below;
    if (below)
        flag(w, "rate under the threshold: %s tokens/s, %s wanted", rate_text(rate).s,
             rate_text(w->o.threshold).s);
    else
        printf("line %zu: above the threshold again: %s tokens/s\n", w->lines, rate_text(rate).s);
}

/* Slow first steps are usual (connections, compilation, caches), so they are named, not flagged. */
static void judge_first(struct watch *w)
{
    double first = median(&w->first_s), later = median(&w->step_s);
    if (w->first_said || w->step_s.n < 5 || w->first_s.n < 1)
        return;
    w->first_said = true;
    for (size_t i = 0; i < w->first_s.n; i++)
        first = fmax(first, w->first_s.v[i]);
    if (first > SLOW_FIRST * later)
        printf("slow first steps: up to %.4g s, %.4g s a step since\n", first, later);
}

static void take(struct watch *w, double rate, double step)
{
    w->measured++;
    w->stalled = false;
    bool warm = w->measured > w->o.warmup;
    if (step > 0)
        roll(warm ? &w->step_s : &w->first_s, step, w->o.window);
    if (!warm)
        return;
    if (rate > 0)
        roll(&w->rate, rate, w->o.window);
    judge_first(w);
    judge_rate(w);
    if ((w->measured - w->o.warmup) % w->o.window == 0)
        print_rolling(w);
}

static double step_seconds(enum watch_meaning meaning, double x)
{
    switch (meaning) {
    case WATCH_STEP_MS:
        return x / 1e3;
    case WATCH_STEPS_PER_S:
        return x > 0 ? 1 / x : 0;
    default:
        return x;
    }
}

/* Several ranks may print one step: it counts once. */
static bool same_step(struct watch *w, const char *line)
{
    enum watch_meaning meaning;
    size_t length;
    const char *digits = find_digits(w->steps, w->n_steps, line, &length, &meaning);
    if (!digits)
        return false;
    long long step = strtoll(digits, NULL, 10);
    bool same = step == w->step;
    w->step = step;
    return same;
}

static void measure(struct watch *w, const char *line)
{
    enum watch_meaning meaning = WATCH_RATE;
    double rate = find(w->rates, w->n_rates, line, &meaning);
    if (meaning == WATCH_RATE_OF_GPU && w->o.gpus > 0)
        rate *= w->o.gpus;
    double step = find(w->times, w->n_times, line, &meaning);
    step = step_seconds(meaning, step);
    if ((rate <= 0 && step <= 0) || same_step(w, line))
        return;
    if (rate <= 0 && w->o.tokens > 0)
        rate = w->o.tokens / step;
    if (step <= 0 && w->o.tokens > 0)
        step = w->o.tokens / rate;
    take(w, rate, step);
}

static void look_for_trouble(struct watch *w, const char *line)
{
    for (size_t i = 0; i < w->n_troubles; i++) {
        if (regexec(&w->troubles[i], line, 0, NULL, 0))
            continue;
        if (w->seen[i]++ < SHOWN)
            flag(w, "%s: %.*s", watch_troubles[i].what, EXCERPT, line);
        else
            w->flagged++;
        return;
    }
}

/* ---- lines ---- */

/* Colours and cursor movements (ESC [ … letter) and NULs go, other controls become blanks. */
static void clean(char *line, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)line[i];
        if (c == '\033' && i + 1 < n && line[i + 1] == '[')
            for (i += 2; i < n && !isalpha((unsigned char)line[i]);)
                i++;
        else if (c)
            line[k++] = iscntrl(c) ? ' ' : (char)c;
    }
    line[k] = '\0';
}

void watch_line(struct watch *w, char *line, size_t n)
{
    w->lines++;
    clean(line, n);
    look_for_trouble(w, line);
    measure(w, line);
}

void watch_idle(struct watch *w, double seconds)
{
    double limit = fmax(STALL_LEAST_S, STALL_STEPS * median(&w->step_s));
    if (w->stalled || !w->measured || seconds < limit)
        return;
    w->stalled = true;
    flag(w, "no step for %.0f s", seconds);
}

size_t watch_measured(const struct watch *w)
{
    return w->measured;
}

size_t watch_end(struct watch *w)
{
    printf("%zu lines, %zu measurements\n", w->lines, w->measured);
    if (w->rate.n || w->step_s.n)
        print_rolling(w);
    else if (w->measured)
        printf("all of them warm-up: no rate yet\n");
    else
        printf("no rate and no step time found: say how they look with --pattern\n");
    for (size_t i = 0; i < w->n_troubles; i++)
        if (w->seen[i])
            printf("%s: %zu %s\n", watch_troubles[i].what, w->seen[i],
                   w->seen[i] == 1 ? "line" : "lines");
    return w->flagged;
}
