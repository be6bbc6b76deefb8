/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/show_curve.h"

#include "base/screen.h"
#include "base/text.h"
#include "base/textplot.h"
#include "base/units.h"
#include "reduce/iteration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void show_curve_add(struct show_curve *c, const struct rec_cell *cell, const struct summary *m)
{
    if (cell->size_B > 0 && isfinite(m->time_s.median))
        APPEND(c->v, c->n) = (struct show_point){cell, m->time_s.median, m->busbw, NULL};
}

/* ---- which panel ---- */

/* As in the figures: was some config measured at two values of it, in one mode and at one size?
 * Otherwise the configs differ in it, and are curves of one panel. */
static bool divides(const char *axis, const struct show_curve *c)
{
    char x[128], y[128];
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < i; k++) {
            const struct rec_cell *a = c->v[i].cell, *b = c->v[k].cell;
            if (a->size_B != b->size_B || strcmp(a->config, b->config) || strcmp(a->mode, b->mode))
                continue;
            const char *of_a = recorded_param(a, axis, x, sizeof x);
            const char *of_b = recorded_param(b, axis, y, sizeof y);
            if (!of_a != !of_b || (of_a && strcmp(of_a, of_b)))
                return true;
        }
    return false;
}

static void name_panels(const struct show_curve *c, const struct words *axes)
{
    struct text *names = xcalloc(c->n + 1, sizeof *names);
    char value[128];
    for (size_t i = 0; i < c->n; i++)
        text_add(&names[i], c->v[i].cell->mode);
    for (size_t k = 0; k < axes->n; k++) {
        if (!divides(axes->v[k], c))
            continue;
        for (size_t i = 0; i < c->n; i++)
            if (recorded_param(c->v[i].cell, axes->v[k], value, sizeof value))
                text_addf(&names[i], "%s%s %s", names[i].len ? ", " : "", axes->v[k], value);
    }
    for (size_t i = 0; i < c->n; i++)
        c->v[i].panel = names[i].s;
    free(names);
}

static const char *fullest(const struct show_curve *c)
{
    const char *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < c->n; i++) {
        size_t n = 0;
        for (size_t k = 0; k < c->n; k++)
            n += !strcmp(c->v[i].panel, c->v[k].panel);
        if (n >= most) {
            most = n;
            best = c->v[i].panel;
        }
    }
    return best;
}

/* ---- its curves ---- */

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void find_sizes(struct textplot *p, const struct show_curve *c, const char *panel)
{
    p->sizes = xcalloc(c->n, sizeof *p->sizes);
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->v[i].panel, panel))
            p->sizes[p->n_sizes++] = c->v[i].cell->size_B;
    qsort(p->sizes, p->n_sizes, sizeof *p->sizes, by_size);
    size_t kept = 0;
    for (size_t i = 0; i < p->n_sizes; i++)
        if (!kept || p->sizes[kept - 1] != p->sizes[i])
            p->sizes[kept++] = p->sizes[i];
    p->n_sizes = kept;
}

static struct textplot_curve *curve_of(struct textplot *p, const char *name)
{
    for (size_t i = 0; i < p->n_curves; i++)
        if (!strcmp(p->curves[i].name, name))
            return &p->curves[i];
    struct textplot_curve *new = &APPEND(p->curves, p->n_curves);
    *new = (struct textplot_curve){xstrdup(name), xcalloc(p->n_sizes, sizeof *new->y)};
    for (size_t i = 0; i < p->n_sizes; i++)
        new->y[i] = NAN;
    return new;
}

static void put_point(struct textplot *p, const struct show_point *q, bool busbw)
{
    const int64_t *at = bsearch(&q->cell->size_B, p->sizes, p->n_sizes, sizeof *p->sizes, by_size);
    const char *name = *q->cell->config ? q->cell->config : "all";
    curve_of(p, name)->y[at - p->sizes] = busbw ? q->busbw : q->time_s;
}

/* A sweep of other axes than size has no curve, neither here nor in the figures. */
static void say_no_curve(const struct words *axes)
{
    AUTO_TEXT struct text t = {0};
    for (size_t i = 0; i < axes->n; i++)
        text_addf(&t, "%s%s", i ? ", " : "", axes->v[i]);
    if (!axes->n)
        return;
    AUTO_FREE char *line = xstrfmt("no curve: one is drawn against size, for %d sizes or more. The "
                                   "rows above are by %s; verdicts: gradsync compare",
                                   TEXTPLOT_SIZES, t.s);
    screen_say(line);
}

void show_curve_print(const struct show_curve *c, const struct words *axes)
{
    name_panels(c, axes);
    const char *panel = fullest(c);
    AUTO(textplot_free) struct textplot p = {0};
    bool busbw = panel, steps = false;
    if (!panel) {
        say_no_curve(axes);
        return;
    }
    for (size_t i = 0; i < c->n; i++) {
        bool shown = !strcmp(c->v[i].panel, panel);
        busbw = busbw && (!shown || c->v[i].busbw > 0);
        steps = steps || (shown && iteration_is_step(c->v[i].cell));
    }
    AUTO_FREE char *title =
        xstrfmt("%s%s%s against size", busbw ? "busbw" : "time, median", *panel ? ", " : "", panel);
    p.title = title;
    p.log_y = !busbw;
    p.label = busbw ? units_human_rate : units_human_time;
    find_sizes(&p, c, panel);
    if (p.n_sizes < TEXTPLOT_SIZES) {
        say_no_curve(axes);
        return;
    }
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->v[i].panel, panel))
            put_point(&p, &c->v[i], busbw);
    textplot_print(&p);
    if (steps)
        puts("  clocks may differ between sizes: compare configs at one size only");
}

void show_curve_free(struct show_curve *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->v[i].panel);
    free(c->v);
    *c = (struct show_curve){0};
}
