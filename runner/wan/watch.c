/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/watch.h"

#include "base/text.h"
#include "wan/watch_lines.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 3            /* lines of a kind of trouble that are printed; the rest is counted */
#define SLOW_FIRST 1.5     /* first steps slower than later ones by so much are named */
#define STALL_LEAST_S 60.0 /* silence shorter than this is none */
#define STALL_STEPS 10.0
#define EXCERPT 160

struct watch {
    struct watch_options o;
    struct watch_lines *says;
    size_t seen[WATCH_TROUBLES_MAX]; /* lines of each kind of trouble */
    struct rolling rate, step_s;     /* after the warm-up */
    struct rolling first_s;          /* during it */
    size_t lines, measured, flagged;
    long long step; /* number of the last one; -1: none said */
    bool of_gpu;    /* rate is of one GPU */
    bool below, stalled, first_said, empty_said;
};

/* ---- numbers ---- */

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

struct watch *watch_new(const struct watch_options *o)
{
    struct watch_lines *says = watch_lines_new(o->pattern);
    if (!says)
        return NULL;
    struct watch *w = xcalloc(1, sizeof *w);
    w->o = *o;
    w->says = says;
    w->step = -1;
    return w;
}

void watch_free(struct watch *w)
{
    if (!w)
        return;
    watch_lines_free(w->says);
    free(w);
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

static const char *unit(const struct watch *w)
{
    return w->of_gpu ? "tokens/s per GPU" : "tokens/s";
}

static void print_rolling(const struct watch *w)
{
    double rate = median(&w->rate), step = median(&w->step_s);
    if (w->step >= 0)
        printf("step %lld:", w->step);
    else
        printf("measurement %zu:", w->measured);
    if (rate > 0)
        printf(" %s %s", rate_text(rate).s, unit(w));
    if (rate > 0 && w->o.expected_rate > 0)
        printf(" (%.0f%% of the %s expected)", 100 * rate / w->o.expected_rate,
               rate_text(w->o.expected_rate).s);
    if (step > 0)
        printf("%s %.5g s per step", rate > 0 ? "," : "", step);
    if (step > 0 && w->o.expected_step_s > 0)
        printf(" (%.4g expected)", w->o.expected_step_s);
    putchar('\n');
}

/* Rates that a verdict needs. */
static size_t enough(const struct watch *w)
{
    return w->o.window < 5 ? w->o.window : 5;
}

static void judge_rate(struct watch *w)
{
    double rate = median(&w->rate);
    bool below = rate < w->o.threshold;
    if (w->o.threshold <= 0 || w->rate.n < enough(w) || below == w->below)
        return;
    w->below = below;
    if (below)
        flag(w, "rate under the threshold: %s %s, %s wanted", rate_text(rate).s, unit(w),
             rate_text(w->o.threshold).s);
    else
        printf("line %zu: above the threshold again: %s %s\n", w->lines, rate_text(rate).s,
               unit(w));
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
        printf("slow first steps: up to %.4g s; %.4g s per step since\n", first, later);
}

/* again: the values are of a step that was counted. */
static void take(struct watch *w, double rate, double step, bool again)
{
    w->measured += !again;
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
    if (!again && (w->measured - w->o.warmup) % w->o.window == 0)
        print_rolling(w);
}

/* ---- lines ---- */

static void measure(struct watch *w, const char *line)
{
    struct watch_values v = watch_lines_read(w->says, line);
    if (v.restart) { /* it was loading until here */
        w->rate.n = w->step_s.n = w->first_s.n = 0;
        w->rate.next = w->step_s.next = w->first_s.next = w->measured = 0;
    }
    if (v.first_rate) /* those before were of one GPU */
        w->rate.n = w->rate.next = 0;
    if (v.rate <= 0 && v.step_s <= 0)
        return;
    if (v.rate > 0)
        w->of_gpu = v.of_gpu && w->o.gpus <= 0;
    if (v.of_gpu && w->o.gpus > 0)
        v.rate *= w->o.gpus;
    w->step = v.step >= 0 ? v.step : w->step;
    if (v.rate <= 0 && w->o.tokens > 0 && !v.again)
        v.rate = w->o.tokens / v.step_s;
    if (v.step_s <= 0 && w->o.tokens > 0 && !v.again)
        v.step_s = w->o.tokens / v.rate;
    take(w, v.rate, v.step_s, v.again);
}

static void look_for_trouble(struct watch *w, const char *line)
{
    int i = watch_lines_trouble(w->says, line);
    if (i >= 0 && w->seen[i]++ < SHOWN)
        flag(w, "%s: %.*s", watch_troubles[i].what, EXCERPT, line);
    else if (i >= 0)
        w->flagged++;
}

void watch_line(struct watch *w, char *line, size_t n)
{
    w->lines++;
    watch_clean(line, n);
    look_for_trouble(w, line);
    measure(w, line);
}

void watch_idle(struct watch *w, double seconds)
{
    double limit = fmax(STALL_LEAST_S, STALL_STEPS * median(&w->step_s));
    if (!w->measured && !w->empty_said && seconds >= STALL_LEAST_S) {
        w->empty_said = true;
        printf(
            "no rate and no step time in %.0f s (%zu line%s): is it the log of a training? If so, "
            "describe its format with --pattern\n",
            seconds, w->lines, w->lines == 1 ? "" : "s");
    }
    if (w->stalled || !w->measured || seconds < limit)
        return;
    w->stalled = true;
    flag(w, "no step for %.0f s", seconds);
}

size_t watch_measured(const struct watch *w)
{
    return w->measured;
}

/* A log whose rate was not judged must not look like one whose rate is good. */
static void say_unjudged(const struct watch *w)
{
    if (w->o.threshold <= 0)
        printf("no rate was judged: give --threshold or --config\n");
    else if (!w->rate.n)
        printf("no rate was judged: the log has step times only; give --config, whose [model] has "
               "the tokens of a step\n");
    else if (w->rate.n < enough(w))
        printf("no rate was judged: %zu measurement%s after the warm-up, %zu or more are needed\n",
               w->rate.n, w->rate.n == 1 ? "" : "s", enough(w));
}

size_t watch_end(struct watch *w)
{
    printf("%zu line%s, %zu measurement%s\n", w->lines, w->lines == 1 ? "" : "s", w->measured,
           w->measured == 1 ? "" : "s");
    if (w->rate.n || w->step_s.n)
        print_rolling(w);
    else if (w->measured)
        printf("all measurements are warm-up: no rate yet\n");
    else
        printf("no rate and no step time found; describe their format with --pattern\n");
    if (w->rate.n || w->step_s.n)
        say_unjudged(w);
    for (size_t i = 0; watch_troubles[i].text; i++)
        if (w->seen[i])
            printf("%s: %zu %s\n", watch_troubles[i].what, w->seen[i],
                   w->seen[i] == 1 ? "line" : "lines");
    return w->flagged;
}
