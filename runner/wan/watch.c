/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/watch.h"

#include "base/err.h"
#include "base/stats.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The last `window` values. */
struct rolling {
    double v[WATCH_WINDOW_MAX];
    size_t n, next;
};

#define SHOWN 3            /* lines of a kind of trouble that are printed; the rest is counted */
#define STALL_LEAST_S 60.0 /* silence shorter than this is none */
#define STALL_STEPS 10.0
#define EXCERPT 160

struct watch {
    struct watch_options o;
    struct watch_lines *says;
    struct fault {
        size_t seen, waiting,
            harmless;       /* lines: faults; those that steps may follow; those that did */
        size_t line[SHOWN]; /* of what waits */
        char *text[SHOWN];
        bool warned; /* after the first step: a rank may be late, so more steps must follow */
    } * faults;      /* by kind */
    size_t waited;   /* steps since the last of what waits */
    struct rolling rate, step_s; /* after the warm-up */
    size_t lines, measured, flagged;
    long long step; /* number of the last one; -1: none said */
    bool of_gpu;    /* rate is of one GPU */
    bool below, stalled, empty_said;
};

/* ---- numbers ---- */

static double median(const struct rolling *r)
{
    return r->n ? stats_median(r->v, r->n) : 0;
}

static void roll(struct rolling *r, double x, size_t window)
{
    r->v[r->next] = x;
    r->next = (r->next + 1) % window;
    r->n += r->n < window;
}

struct watch *watch_new(const struct watch_options *o)
{
    struct watch_lines *says = watch_lines_new(o->patterns);
    if (!says || (o->patterns && watch_lines_try(o->patterns))) {
        if (says)
            watch_lines_free(says);
        return NULL;
    }
    struct watch *w = xcalloc(1, sizeof *w);
    w->o = *o;
    w->says = says;
    w->step = -1;
    w->faults = xcalloc(watch_lines_kinds(says)->n, sizeof *w->faults);
    return w;
}

void watch_free(struct watch *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < watch_lines_kinds(w->says)->n; i++)
        for (size_t k = 0; k < SHOWN; k++)
            free(w->faults[i].text[k]);
    free(w->faults);
    watch_lines_free(w->says);
    free(w);
}

/* ---- what was measured ---- */

__attribute__((format(printf, 3, 4))) static void flag(struct watch *w, size_t line,
                                                       const char *fmt, ...)
{
    va_list args;
    w->flagged++;
    printf("line %zu: ", line);
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
        flag(w, w->lines, "rate under the threshold: %s %s, %s wanted", rate_text(rate).s, unit(w),
             rate_text(w->o.threshold).s);
    else
        printf("line %zu: above the threshold again: %s %s\n", w->lines, rate_text(rate).s,
               unit(w));
}

/* Words alone do not tell whether a job died of them. */
#define FOLLOW 4 /* steps: a rank may print some more steps than another one that failed */

static void forget_waiting(struct fault *f)
{
    f->waiting = 0;
    for (size_t i = 0; i < SHOWN; i++) {
        free(f->text[i]);
        f->text[i] = NULL;
    }
}

static void steps_followed(struct watch *w)
{
    const struct words *kinds = watch_lines_kinds(w->says);
    w->waited++;
    for (size_t i = 0; i < kinds->n; i++) {
        struct fault *f = &w->faults[i];
        if (!f->waiting || (f->warned && w->waited < FOLLOW))
            continue;
        for (size_t k = 0; k < SHOWN && f->text[k]; k++)
            printf("line %zu: no fault, as steps followed: %s: %s\n", f->line[k], kinds->v[i],
                   f->text[k]);
        f->harmless += f->waiting;
        forget_waiting(f);
    }
}

/* No step follows. */
static void nothing_followed(struct watch *w)
{
    const struct words *kinds = watch_lines_kinds(w->says);
    for (size_t i = 0; i < kinds->n; i++) {
        struct fault *f = &w->faults[i];
        size_t shown = 0;
        for (; shown < SHOWN && f->text[shown]; shown++)
            flag(w, f->line[shown], "%s: %s", kinds->v[i], f->text[shown]);
        w->flagged += f->waiting - shown;
        f->seen += f->waiting;
        forget_waiting(f);
    }
}

/* again: the values are of a step that was counted. */
static void take(struct watch *w, double rate, double step, bool again)
{
    w->measured += !again;
    w->stalled = false;
    if (!again)
        steps_followed(w);
    if (w->measured <= w->o.warmup)
        return;
    if (step > 0)
        roll(&w->step_s, step, w->o.window);
    if (rate > 0)
        roll(&w->rate, rate, w->o.window);
    judge_rate(w);
    if (!again && (w->measured - w->o.warmup) % w->o.window == 0)
        print_rolling(w);
}

/* ---- lines ---- */

static void measure(struct watch *w, const char *line)
{
    struct watch_values v = watch_lines_read(w->says, line);
    if (v.restart) { /* it was loading until here */
        w->rate.n = w->step_s.n = 0;
        w->rate.next = w->step_s.next = w->measured = 0;
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
    bool rounded =
        v.step_s > 0 && v.rate > 0 && v.rate_digits && v.rate_digits < v.digits && !v.of_gpu;
    if ((v.rate <= 0 || rounded) && w->o.tokens > 0 && !v.again)
        v.rate = w->o.tokens / v.step_s;
    if (v.step_s <= 0 && w->o.tokens > 0 && !v.again)
        v.step_s = w->o.tokens / v.rate;
    take(w, v.rate, v.step_s, v.again);
}

static void look_for_trouble(struct watch *w, const char *line)
{
    bool warning = false;
    const struct words *kinds = watch_lines_kinds(w->says);
    size_t i = watch_lines_fault(w->says, line, &warning);
    if (i == kinds->n)
        return;
    struct fault *f = &w->faults[i];
    if (warning) {
        w->waited = 0;
        f->warned = w->measured > 0;
        if (f->waiting < SHOWN) {
            f->line[f->waiting] = w->lines;
            f->text[f->waiting] = xstrfmt("%.*s", EXCERPT, line);
        }
        f->waiting++;
    } else if (f->seen++ < SHOWN)
        flag(w, w->lines, "%s: %.*s", kinds->v[i], EXCERPT, line);
    else
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
            "describe its format in a file for --patterns\n",
            seconds, w->lines, w->lines == 1 ? "" : "s");
    }
    if (w->stalled || !w->measured || seconds < limit)
        return;
    w->stalled = true;
    nothing_followed(w);
    flag(w, w->lines, "no step for %.0f s", seconds);
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
    nothing_followed(w);
    printf("%zu line%s, %zu measurement%s\n", w->lines, w->lines == 1 ? "" : "s", w->measured,
           w->measured == 1 ? "" : "s");
    if (w->rate.n || w->step_s.n)
        print_rolling(w);
    else if (w->measured)
        printf("all measurements are warm-up: no rate yet\n");
    if (w->rate.n || w->step_s.n)
        say_unjudged(w);
    const struct words *kinds = watch_lines_kinds(w->says);
    for (size_t i = 0; i < kinds->n; i++) {
        const struct fault *f = &w->faults[i];
        if (f->seen)
            printf("%s: %zu line%s\n", kinds->v[i], f->seen, f->seen == 1 ? "" : "s");
        if (f->harmless)
            printf("%s: %zu line%s that steps followed\n", kinds->v[i], f->harmless,
                   f->harmless == 1 ? "" : "s");
    }
    return w->flagged;
}
