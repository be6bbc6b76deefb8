/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/inventory.h"

#include "base/err.h"
#include "base/json_names.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct key {
    const char *id;
    size_t place;
};

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct key *)a)->id, ((const struct key *)b)->id);
}

static const struct key *find(const struct key *keys, size_t n, const char *id)
{
    return n ? bsearch(&(struct key){.id = id}, keys, n, sizeof *keys, by_id) : NULL;
}

/* ---- plan.json ---- */

static int read_cells(struct inventory *v, const char *path, struct key *cells, struct key *groups)
{
    size_t i;
    json_t *o;
    const char *last = "";
    json_array_foreach(json_object_get(v->plan, "cells"), i, o)
    {
        const char *id = json_string_value(json_object_get(o, "id"));
        const char *group = json_string_value(json_object_get(o, "group"));
        if (!id || !group)
            return fail_at(GS_FAILED, path, 0, "damaged: a cell has no id or group");
        if (strcmp(group, last)) /* a group's cells are consecutive */
            groups[v->n_groups] = (struct key){group, v->n_groups}, v->n_groups++;
        last = group;
        v->cells[i] = id;
        v->group_of[i] = v->n_groups - 1;
        cells[i] = (struct key){id, i};
    }
    qsort(cells, v->n_cells, sizeof *cells, by_id);
    qsort(groups, v->n_groups, sizeof *groups, by_id);
    return GS_OK;
}

/* ---- recordings ---- */

static void note_closed(struct inventory *v, const struct key *groups)
{
    for (size_t i = 0; i < v->ledger->n_files; i++) {
        const struct ledger_file *f = &v->ledger->files[i];
        for (size_t j = 0; f->launch <= v->launches && j < f->n_closed; j++) {
            const struct key *g = find(groups, v->n_groups, f->closed[j]);
            if (g)
                v->closed[(size_t)(f->launch - 1) * v->n_groups + g->place] = true;
        }
    }
}

/* Like ledger_given_up, for all cells in one pass. */
static void note_gone(struct inventory *v, const struct key *cells, int retries)
{
    const size_t n = (size_t)v->launches * v->n_cells;
    AUTO_FREE int *deaths = xcalloc(n ? n : 1, sizeof *deaths);
    for (size_t i = 0; i < v->ledger->n_fails; i++) {
        const struct ledger_fail *f = &v->ledger->fails[i];
        const struct key *c = f->launch <= v->launches ? find(cells, v->n_cells, f->cell) : NULL;
        if (!c)
            continue;
        size_t at = (size_t)(f->launch - 1) * v->n_cells + c->place;
        bool again =
            !strcmp(f->kind, "crash") || !strcmp(f->kind, "hang") || !strcmp(f->kind, "lost");
        if (!again || ++deaths[at] > retries)
            v->gone[at] = f;
    }
}

/* ---- the whole ---- */

static int take(struct inventory *v, const char *path, const char *dir, int retries)
{
    AUTO_FREE struct key *cells = xcalloc(v->n_cells + 1, sizeof *cells);
    AUTO_FREE struct key *groups = xcalloc(v->n_cells + 1, sizeof *groups);
    int code = read_cells(v, path, cells, groups);
    if (!code)
        code = ledger_read(&v->ledger, dir);
    if (!code) {
        v->closed = xcalloc((size_t)v->launches * v->n_groups + 1, sizeof *v->closed);
        v->gone = xcalloc((size_t)v->launches * v->n_cells + 1, sizeof *v->gone);
        note_closed(v, groups);
        note_gone(v, cells, retries);
    }
    return code;
}

int inventory_take(struct inventory *v, const char *dir, int launches, int retries)
{
    AUTO_FREE char *path = xstrfmt("%s/plan.json", dir);
    *v = (struct inventory){.launches = launches};
    int code = json_names_load(&v->plan, path);
    if (!code && !v->plan)
        code = fail_at(GS_FAILED, path, 0, "cannot be read: %s", strerror(ENOENT));
    v->n_cells = json_array_size(json_object_get(v->plan, "cells"));
    v->cells = xcalloc(v->n_cells + 1, sizeof *v->cells);
    v->group_of = xcalloc(v->n_cells + 1, sizeof *v->group_of);
    return code ? code : take(v, path, dir, retries);
}

void inventory_free(struct inventory *v)
{
    json_decref(v->plan);
    ledger_free(v->ledger);
    free(v->cells);
    free(v->group_of);
    free(v->closed);
    free(v->gone);
    *v = (struct inventory){0};
}

bool inventory_lacks(const struct inventory *v, int launch, size_t cell)
{
    size_t l = (size_t)(launch - 1);
    return !v->closed[l * v->n_groups + v->group_of[cell]] && !v->gone[l * v->n_cells + cell];
}

size_t inventory_missing(const struct inventory *v, int launch)
{
    size_t n = 0, last = (size_t)-1;
    for (size_t i = 0; i < v->n_cells; i++)
        if (v->group_of[i] != last && inventory_lacks(v, launch, i)) {
            last = v->group_of[i];
            n++;
        }
    return n;
}
