/* SPDX-License-Identifier: Apache-2.0 */
#include "train/train_times.h"

#include "wan/watch_lines.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS 8
#define LONGEST_S 1e9 /* a time in nanoseconds fits 63 bits */

struct train_times {
    int unit;
    struct watch_lines *known; /* NULL: the user's own expression */
    regex_t own;
    struct train_step *v;
    size_t n, cap, lines;
    char wrong[200];
};

struct train_times *train_times_new(const struct train_settings *s)
{
    struct train_times *t = xcalloc(1, sizeof *t);
    t->unit = s->unit;
    if (s->time)
        regcomp(&t->own, s->time->value, REG_EXTENDED | REG_ICASE); /* checked with the config */
    else
        t->known = watch_lines_new(NULL);
    return t;
}

void train_times_free(struct train_times *t)
{
    if (t->known)
        watch_lines_free(t->known);
    else
        regfree(&t->own);
    free(t->v);
    free(t);
}

static double seconds(int unit, double x)
{
    static const double scale[] = {[TRAIN_S] = 1, [TRAIN_MS] = 1e-3, [TRAIN_US] = 1e-6};
    return unit == TRAIN_PER_S ? 1 / x : x * scale[unit];
}

static void refuse(struct train_times *t, const char *text, int n, const char *why)
{
    if (!*t->wrong)
        snprintf(t->wrong, sizeof t->wrong, "line %zu: the step time '%.*s' %s", t->lines,
                 n < 40 ? n : 40, text, why);
}

static void add(struct train_times *t, double s, double at)
{
    ALLOC_GROW(t->v, t->n, t->cap);
    t->v[t->n++] = (struct train_step){(uint64_t)llround(s * 1e9), at};
}

/* The first group that took part. */
static const regmatch_t *group(const regmatch_t *m)
{
    for (size_t i = 1; i < GROUPS; i++)
        if (m[i].rm_so >= 0)
            return &m[i];
    return NULL;
}

static void read_own(struct train_times *t, const char *line, double at)
{
    regmatch_t m[GROUPS];
    const regmatch_t *g = regexec(&t->own, line, GROUPS, m, 0) ? NULL : group(m);
    if (!g)
        return;
    const char *text = line + g->rm_so;
    int n = (int)(g->rm_eo - g->rm_so);
    char *number = xstrfmt("%.*s", n, text), *end;
    double s = seconds(t->unit, strtod(number, &end));
    if (end == number || end[strspn(end, " \t")])
        refuse(t, text, n, "is not a number");
    else if (!(s > 0) || !(s >= 1e-9))
        refuse(t, text, n, "must be above 0");
    else if (s > LONGEST_S)
        refuse(t, text, n, "is too long");
    else
        add(t, s, at);
    free(number);
}

void train_times_line(struct train_times *t, char *line, double at)
{
    t->lines++;
    watch_clean(line, strlen(line));
    if (!t->known) {
        read_own(t, line, at);
        return;
    }
    struct watch_values v = watch_lines_read(t->known, line);
    t->n = v.restart ? 0 : t->n; /* it was loading until here */
    if (v.step_s > 0)
        add(t, v.step_s, at);
}

size_t train_times_get(const struct train_times *t, const struct train_step **steps)
{
    *steps = t->v;
    return t->n;
}

const char *train_times_wrong(const struct train_times *t)
{
    return t->wrong;
}
