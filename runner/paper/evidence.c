/* SPDX-License-Identifier: Apache-2.0 */
#include "paper/evidence.h"

#include "err.h"
#include "paper/asked.h"
#include "record.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- runs ---- */

static void proof_free(struct proof *p)
{
    origins_free(&p->origins);
    machine_free(&p->machine);
    recorded_free(p->r);
    free(p->dir);
    free(p->config);
    free(p->asked);
    free(p);
}

static int read_proof(struct proof *p, const char *configs)
{
    char *manifest = xstrfmt("%s/%s", p->dir, RECORD_MANIFEST);
    p->finished = !access(manifest, F_OK);
    free(manifest);
    int code = recorded_read(&p->r, p->dir);
    if (!code && p->r)
        code = origins_read(&p->origins, p->r);
    if (!code)
        code = machine_of_run(&p->machine, p->dir);
    if (!code && p->r) {
        p->config = asked_config(p->r, configs, &p->overrides);
        p->asked = xcalloc(p->r->n_cells + 1, sizeof *p->asked);
        p->launches = asked_today(p->r, p->config, p->overrides, p->asked);
    }
    return code;
}

int proof_of(struct proofs *ps, const char *dir, struct proof **out)
{
    for (size_t i = 0; i < ps->n; i++)
        if (!strcmp(ps->v[i]->dir, dir)) {
            *out = ps->v[i];
            return ps->v[i]->r ? GS_OK : GS_FAILED;
        }
    struct proof *p = *out = xcalloc(1, sizeof *p);
    p->dir = xstrdup(dir);
    ps->v = xrealloc(ps->v, (ps->n + 1) * sizeof(struct proof *));
    ps->v[ps->n++] = p;
    int code = read_proof(p, ps->configs);
    if (code || p->r)
        return code;
    return fail_at(GS_FAILED, dir, 0,
                   "no recording there, and the tables have rows of it; "
                   "'make tables' makes them anew");
}

void proofs_free(struct proofs *ps)
{
    for (size_t i = 0; i < ps->n; i++)
        proof_free(ps->v[i]);
    free(ps->v);
    ps->v = NULL;
    ps->n = 0;
}

/* ---- cells ---- */

/* Every parameter that row and cell both name is the same; of the row's own column `size_B` and the
 * cell's as well. A table leaves out what it runs over. */
static bool same_cell(const struct rec_cell *c, const struct grid *g, size_t row)
{
    char a[256], b[256];
    bool same = true;
    struct words w;
    if (grid_has(g, "cell_id"))
        return !strcmp(grid_text(g, row, "cell_id"), c->id);
    if (strcmp(grid_text(g, row, "config"), c->config))
        return false;
    if (grid_has(g, "mode") && strcmp(grid_text(g, row, "mode"), c->mode))
        return false;
    words_split(&w, grid_text(g, row, "params"), ' ');
    for (size_t i = 0; i < w.n && same; i++) {
        snprintf(a, sizeof a, "%.*s", (int)strcspn(w.v[i], "="), w.v[i]);
        /* A row of several modes says one of them. */
        if (!strcmp(a, "mode") && !grid_has(g, "mode"))
            continue;
        const char *v = recorded_param(c, a, b, sizeof b);
        same = !v || !strcmp(v, w.v[i] + strlen(a) + (w.v[i][strlen(a)] == '='));
    }
    words_free(&w);
    return same;
}

static size_t add_baselines(const struct recorded *r, const char *baseline, size_t *cells, size_t n)
{
    size_t found = n;
    for (size_t i = 0; i < r->n_cells; i++) {
        const struct rec_cell *c = &r->cells[i];
        bool beside = false;
        for (size_t k = 0; k < n; k++)
            beside = beside || (r->cells[cells[k]].group == c->group &&
                                !strcmp(r->cells[cells[k]].mode, c->mode));
        if (beside && !strcmp(c->config, baseline))
            cells[found++] = i;
    }
    return found;
}

size_t proof_cells(const struct proof *p, const struct grid *g, size_t row, size_t *cells)
{
    size_t n = 0;
    for (size_t i = 0; i < p->r->n_cells; i++)
        if (same_cell(&p->r->cells[i], g, row))
            cells[n++] = i;
    const char *baseline = grid_text(g, row, "baseline");
    return *baseline ? add_baselines(p->r, baseline, cells, n) : n;
}
