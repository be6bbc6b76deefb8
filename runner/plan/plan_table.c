/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan_table.h"

#include "base/screen.h"
#include "base/text.h"
#include "base/units.h"
#include "config/params.h"
#include "config/train_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN_MAX 60 /* cells that are all printed; of more, the ends */
#define HEAD 8
#define TAIL 4

/* A column: its text for a cell, in a buffer or the cell's own. */
struct column {
    const char *title;
    const struct wl_param *param; /* NULL: one of the fixed ones */
    const char *(*text)(const struct cell *c, const struct group *g);
    size_t width;
};

struct table {
    const struct plan *p;
    struct column *columns;
    size_t n;
    struct words reasons; /* for cells that are skipped: below the table, by number from 1 */
};

static const char *id_text(const struct cell *c, const struct group *g)
{
    (void)g;
    return c->id;
}

static const char *group_text(const struct cell *c, const struct group *g)
{
    (void)c;
    return g->id;
}

static const char *config_text(const struct cell *c, const struct group *g)
{
    (void)g;
    return *c->config ? c->config : "-";
}

/* As config_text; column_text adds the mark. */
static const char *marked_text(const struct cell *c, const struct group *g)
{
    return config_text(c, g);
}

static const char *mode_text(const struct cell *c, const struct group *g)
{
    (void)g;
    return c->mode;
}

static const char *skip_text(const struct cell *c, const struct group *g)
{
    (void)g;
    return c->skip ? c->skip : "";
}

static const char *column_text(const struct column *k, const struct cell *c, const struct group *g,
                               char *buf, size_t n)
{
    if (k->text == marked_text && c->baseline && g->n > 1) {
        snprintf(buf, n, "%s (baseline)", config_text(c, g));
        return buf;
    }
    if (!k->param)
        return k->text(c, g);
    /* A recorded step has a size that no parameter gives. */
    if (!strcmp(k->param->name, "size") && c->shape.size_B)
        return units_short_size(buf, n, c->shape.size_B);
    return param_format(k->param, c->values, buf, n);
}

static bool varies(const struct plan *p, const struct wl_param *param)
{
    size_t size = param_size(param), at = param->offset;
    for (size_t i = 1; i < p->n_cells; i++)
        if (memcmp((const char *)p->cells[0].values + at, (const char *)p->cells[i].values + at,
                   size))
            return true;
    return false;
}

static bool any_text(const struct plan *p,
                     const char *(*text)(const struct cell *, const struct group *))
{
    for (size_t i = 0; i < p->n_cells; i++)
        if (*text(&p->cells[i], p->groups))
            return true;
    return false;
}

static void add_column(struct table *t, struct column k)
{
    APPEND(t->columns, t->n) = k;
}

/* Config and mode stand for their parameters; size is shown even where it is one. */
static void choose_columns(struct table *t)
{
    add_column(t, (struct column){.title = "cell", .text = id_text});
    add_column(t, (struct column){.title = "group", .text = group_text});
    add_column(t, (struct column){.title = "config",
                                  .text = plan_is_train(t->p) ? marked_text : config_text});
    if (any_text(t->p, mode_text))
        add_column(t, (struct column){.title = "mode", .text = mode_text});
    for (const struct wl_param *q = t->p->plugin->wl.params; q->name; q++)
        if (q->role == WL_AXIS && (!strcmp(q->name, "size") || varies(t->p, q)))
            add_column(t, (struct column){.title = q->name, .param = q});
    if (any_text(t->p, skip_text))
        add_column(t, (struct column){.title = "skipped", .text = skip_text});
}

static bool shown(const struct plan *p, size_t i, bool all)
{
    return all || p->n_cells <= SHOWN_MAX || i < HEAD || i >= p->n_cells - TAIL;
}

/* Calls visit for every cell that is shown, with its group. */
static void each_shown(struct table *t, bool all,
                       void (*visit)(struct table *, const struct cell *, const struct group *))
{
    const struct plan *p = t->p;
    for (size_t g = 0; g < p->n_groups; g++)
        for (size_t i = p->groups[g].first; i < p->groups[g].first + p->groups[g].n; i++)
            if (shown(p, i, all))
                visit(t, &p->cells[i], &p->groups[g]);
            else if (i == HEAD)
                visit(t, NULL, NULL);
}

static void measure(struct table *t, const struct cell *c, const struct group *g)
{
    char buf[256];
    for (size_t i = 0; c && i < t->n; i++) {
        size_t n = t->columns[i].text == skip_text
                       ? 0
                       : strlen(column_text(&t->columns[i], c, g, buf, sizeof buf));
        t->columns[i].width = n > t->columns[i].width ? n : t->columns[i].width;
    }
}

/* The last column is not padded: no blanks at a line's end. */
static int column_width(const struct table *t, size_t i)
{
    return i + 1 < t->n ? (int)t->columns[i].width : 0;
}

static void print_row(struct table *t, const struct cell *c, const struct group *g)
{
    char buf[256];
    if (!c) {
        printf("  … %zu more cells (--all)\n", t->p->n_cells - HEAD - TAIL);
        return;
    }
    for (size_t i = 0; i < t->n; i++) {
        const char *s = column_text(&t->columns[i], c, g, buf, sizeof buf);
        if (t->columns[i].text == skip_text && *s) {
            snprintf(buf, sizeof buf, "[%zu]", words_add_once(&t->reasons, s) + 1);
            s = buf;
        }
        printf("  %-*s", column_width(t, i), s);
    }
    printf("\n");
}

/* On a terminal that is too narrow the column that is read least goes: the group's id. */
static void fit(struct table *t)
{
    size_t width = 0;
    for (size_t i = 0; i < t->n; i++)
        width += 2 + t->columns[i].width;
    if (isatty(fileno(stdout)) && width > screen_columns(stdout))
        memmove(t->columns + 1, t->columns + 2, (--t->n - 1) * sizeof *t->columns);
}

static void print_reasons(const struct table *t)
{
    for (size_t i = 0; i < t->reasons.n; i++) {
        AUTO_FREE char *line = xstrfmt("[%zu] %s", i + 1, t->reasons.v[i]);
        screen_say(line);
    }
}

/* A name has no key with the first value of its list, and seems to lack it. */
static void print_names(const struct plan *p)
{
    char why[256], value[WL_TEXT_MAX];
    const struct wl_plugin *wl = &p->plugin->wl;
    AUTO_FREE void *first = xcalloc(1, wl->cell_size);
    AUTO_TEXT struct text t = {0};
    size_t lists = 0;
    params_default(wl->params, first, why, sizeof why);
    for (const struct wl_param *q = wl->params; q->name; q++) {
        if (q->role != WL_CONFIG || !varies(p, q))
            continue;
        param_format(q, first, value, sizeof value);
        bool unset = !strcmp(value, TRAIN_UNSET);
        text_addf(&t, "%s%s%s%s", lists++ ? ", " : "names give only what differs from ", q->name,
                  unset ? " " : "=", value);
    }
    if (lists > 1)
        screen_say(t.s);
}

void plan_table(const struct plan *p, bool all)
{
    struct table t = {.p = p};
    choose_columns(&t);
    for (size_t i = 0; i < t.n; i++)
        t.columns[i].width = strlen(t.columns[i].title);
    each_shown(&t, all, measure);
    fit(&t);
    for (size_t i = 0; i < t.n; i++)
        printf("  %-*s", column_width(&t, i), t.columns[i].title);
    printf("\n");
    each_shown(&t, all, print_row);
    print_reasons(&t);
    if (plan_is_train(p))
        print_names(p);
    words_free(&t.reasons);
    free(t.columns);
}
