/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan_groups.h"

#include "base/err.h"
#include "base/text.h"
#include "config/params.h"
#include "plan/label.h"

#include <stdlib.h>
#include <string.h>

void draft_free(struct draft *drafts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cell_free(&drafts[i].cell);
    free(drafts);
}

/* ---- orders ---- */

static int compare_place(const struct draft *a, const struct draft *b)
{
    return (a->place > b->place) - (a->place < b->place);
}

static int by_id(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    int c = strcmp(x->cell.id, y->cell.id);
    return c ? c : compare_place(x, y);
}

static int by_group(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    int c = strcmp(x->group, y->group);
    return c ? c : compare_place(x, y);
}

static int by_first(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : compare_place(x, y);
}

/* ---- groups ---- */

/* Keeps one of each id, in drafts[0..*n). Only config_free cells may come more than once. */
static int drop_twins(const struct plan *p, struct draft *drafts, size_t *n)
{
    size_t kept = 0;
    int code = GS_OK;
    qsort(drafts, *n, sizeof *drafts, by_id);
    for (size_t i = 0; i < *n; i++) {
        struct draft *d = &drafts[i];
        if (!kept || strcmp(d->cell.id, drafts[kept - 1].cell.id)) {
            struct draft keep = *d;
            d->cell = (struct cell){0};
            drafts[kept++] = keep;
            continue;
        }
        if (!d->cell.shape.config_free && !code)
            code = fail_at(GS_USAGE, p->config->path, config_section(p->config, p->section)->line,
                           "[%s] has a cell twice: %s (%s)", p->section, d->cell.config,
                           d->cell.params);
        cell_free(&d->cell);
        d->cell = (struct cell){0};
    }
    *n = kept;
    return code;
}

static void order(struct draft *drafts, size_t n)
{
    qsort(drafts, n, sizeof *drafts, by_group);
    for (size_t i = 0; i < n; i++)
        drafts[i].first = i && !strcmp(drafts[i].group, drafts[i - 1].group) ? drafts[i - 1].first
                                                                             : drafts[i].place;
    qsort(drafts, n, sizeof *drafts, by_first);
}

static void move(struct plan *p, struct draft *drafts, size_t n)
{
    p->cells = xcalloc(n, sizeof *p->cells);
    p->groups = xcalloc(n, sizeof *p->groups);
    for (size_t i = 0; i < n; i++) {
        p->cells[i] = drafts[i].cell;
        drafts[i].cell = (struct cell){0};
        if (!p->n_groups || strcmp(p->groups[p->n_groups - 1].id, drafts[i].group)) {
            struct group *g = &p->groups[p->n_groups++];
            memcpy(g->id, drafts[i].group, PLAN_ID);
            g->first = i;
        }
        p->groups[p->n_groups - 1].n++;
    }
    p->n_cells = n;
}

/* ---- baselines ---- */

/* Marks the cells of one group that have the label; how many. */
static size_t mark(struct plan *p, const struct group *g, const char *label)
{
    size_t n = 0;
    for (size_t i = g->first; i < g->first + g->n; i++) {
        p->cells[i].baseline = *label && !strcmp(p->cells[i].config, label);
        n += p->cells[i].baseline;
    }
    return n;
}

static const char *first_label(const struct plan *p, const struct group *g)
{
    const char *label = "";
    for (size_t i = g->first; i < g->first + g->n && !*label; i++)
        label = p->cells[i].config;
    return label;
}

/* The label as label_config() writes it, whatever the order of its parts; the caller frees it. */
static char *wanted_label(const struct plan *p)
{
    const struct wl_plugin *wl = &p->plugin->wl;
    const char *text = p->set.measure.baseline;
    AUTO_FREE void *defaults = xcalloc(1, wl->cell_size), *cell = xcalloc(1, wl->cell_size);
    char why[1024];
    params_default(wl->params, defaults, why, sizeof why);
    return *text && label_parse(wl, defaults, text, cell, why, sizeof why)
               ? label_config(wl, defaults, cell)
               : xstrdup(text);
}

static int unknown_baseline(const struct plan *p, const char *label)
{
    AUTO_WORDS struct words labels = {0};
    AUTO_TEXT struct text all = {0};
    for (size_t i = 0; i < p->n_cells; i++)
        if (*p->cells[i].config)
            words_add_once(&labels, p->cells[i].config);
    for (size_t i = 0; i < labels.n; i++)
        text_addf(&all, "%s%s", i ? ", " : "", labels.v[i]);
    const char *near = text_nearest(label, (const char *const *)labels.v, labels.n);
    return config_error(config_find(p->config, "measure", "baseline"),
                        "'%s' is not a config of [%s]%s; choose %s", label, p->section,
                        DID_YOU_MEAN(near), all.s);
}

static int choose_baselines(struct plan *p)
{
    AUTO_FREE char *wanted = wanted_label(p);
    size_t marked = 0;
    bool compares = false;
    for (size_t i = 0; i < p->n_groups; i++) {
        size_t n = mark(p, &p->groups[i], wanted);
        marked += n;
        compares = compares || group_compares(p, &p->groups[i]);
        if (!n)
            mark(p, &p->groups[i], first_label(p, &p->groups[i]));
    }
    /* A section that compares nothing has no use for the baseline that others have. */
    return *wanted && !marked && compares ? unknown_baseline(p, wanted) : GS_OK;
}

int plan_group(struct plan *p, struct draft *drafts, size_t n)
{
    int code = drop_twins(p, drafts, &n);
    order(drafts, n);
    move(p, drafts, n);
    return code ? code : choose_baselines(p);
}
