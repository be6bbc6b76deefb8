/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

#include "base/text.h"
#include "config/train_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cell_free(struct cell *c)
{
    free(c->config);
    free(c->mode);
    free(c->params);
    free(c->skip);
    free(c->values);
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_cells; i++)
        cell_free(&p->cells[i]);
    free(p->cells);
    free(p->groups);
    free(p->section);
    free(p->workload);
    free(p->label);
    plugin_unload(p->plugin);
    config_free(p->config);
    free(p);
}

bool plan_is_train(const struct plan *p)
{
    return !strcmp(p->workload, TRAIN_WORKLOAD);
}

size_t plan_visits(const struct plan *p)
{
    size_t n = 0;
    for (size_t g = 0; g < p->n_groups; g++)
        for (size_t i = p->groups[g].first; i < p->groups[g].first + p->groups[g].n; i++)
            n += (size_t)group_copies(p, &p->groups[g], &p->cells[i]);
    return n;
}

bool group_compares(const struct plan *p, const struct group *g)
{
    const char *seen = NULL;
    for (size_t i = g->first; i < g->first + g->n; i++) {
        const char *label = p->cells[i].config;
        if (*label && seen && strcmp(label, seen))
            return true;
        seen = *label ? label : seen;
    }
    return false;
}

int group_copies(const struct plan *p, const struct group *g, const struct cell *c)
{
    return c->baseline && group_compares(p, g) ? 2 : 1;
}

/* ---- names for messages ---- */

/* All cells of a plan have the same keys in the same order. */
static bool shared(const struct plan *p, size_t place, const char *word)
{
    bool same = true;
    for (size_t i = 0; i < p->n_cells && same; i++) {
        AUTO_WORDS struct words w = {0};
        words_split(&w, p->cells[i].params, ' ');
        same = place < w.n && !strcmp(w.v[place], word);
    }
    return same;
}

const char *cell_name(const struct plan *p, const struct cell *cell, char *buf, size_t n)
{
    AUTO_WORDS struct words w = {0};
    size_t used = 0;
    words_split(&w, cell->params, ' ');
    for (size_t i = 0; i < w.n && used < n; i++)
        if (!shared(p, i, w.v[i]))
            used += (size_t)snprintf(buf + used, n - used, "%s ", w.v[i]);
    if (used < n)
        snprintf(buf + used, n - used, "(%s)", cell->id);
    return buf;
}

const struct cell *cell_find(const struct plan *p, const char *id)
{
    for (size_t i = 0; i < p->n_cells; i++)
        if (!strcmp(p->cells[i].id, id))
            return &p->cells[i];
    return NULL;
}
