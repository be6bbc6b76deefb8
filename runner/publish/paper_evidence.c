/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/paper_evidence.h"

#include "base/err.h"
#include "base/text.h"
#include "publish/config_match.h"
#include "record/runs.h"
#include "reduce/left_out.h"

#include <stdlib.h>
#include <string.h>

/* ---- runs ---- */

static void proof_free(struct proof *p)
{
    origins_free(&p->origins);
    machine_free(&p->machine);
    recorded_free(p->r);
    free(p->dir);
    free(p->config);
    free(p->requested);
    free(p->why);
    free(p);
}

static int read_proof(struct proof *p, const char *configs)
{
    p->finished = run_is_final(p->dir);
    int code = recorded_read(&p->r, p->dir);
    if (!code && p->r)
        code = origins_read(&p->origins, p->r);
    if (!code)
        code = machine_of_run(&p->machine, p->dir);
    struct disturbed_launches out = {0};
    if (!code)
        code = launches_out_of_run(&out, p->dir);
    p->left_out = (int64_t)out.n;
    disturbed_launches_free(&out);
    if (!code && p->r) {
        p->config = config_match_path(p->r, configs, &p->overrides);
        p->requested = xcalloc(p->r->n_cells + 1, sizeof *p->requested);
        p->launches = config_match_cells(p->r, p->config, p->overrides, p->requested, &p->why);
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
    APPEND(ps->v, ps->n) = p;
    int code = read_proof(p, ps->configs);
    if (code || p->r)
        return code;
    return fail_at(GS_FAILED, dir, 0,
                   "the recording is missing, but the tables have rows of it; "
                   "'make tables' makes the tables again");
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

/* What a row says of its cells. NULL: its table has no such column. */
struct wanted {
    const char *id, *config, *mode;
    struct words params; /* KEY=VALUE each */
};

static struct wanted wanted_by(const struct grid *g, size_t row)
{
    struct wanted w = {.id = grid_has(g, "cell_id") ? grid_text(g, row, "cell_id") : NULL,
                       .config = grid_text(g, row, "config"),
                       .mode = grid_has(g, "mode") ? grid_text(g, row, "mode") : NULL};
    words_split(&w.params, grid_text(g, row, "params"), ' ');
    return w;
}

/* Every parameter that row and cell both name is the same. A table leaves out what it runs over. */
static bool is_wanted(const struct rec_cell *c, const struct wanted *w)
{
    char key[64], buf[256];
    if (w->id)
        return !strcmp(w->id, c->id);
    if (strcmp(w->config, c->config) || (w->mode && strcmp(w->mode, c->mode)))
        return false;
    for (size_t i = 0; i < w->params.n; i++) {
        const char *word = w->params.v[i], *value = word + strcspn(word, "=");
        size_t n = (size_t)(value - word);
        if (n >= sizeof key)
            return false; /* no parameter has so long a name */
        memcpy(key, word, n);
        key[n] = '\0';
        /* A row of several modes says one of them. */
        if (!w->mode && !strcmp(key, "mode"))
            continue;
        const char *v = recorded_param(c, key, buf, sizeof buf);
        if (v && strcmp(v, value + (*value == '=')) != 0)
            return false;
    }
    return true;
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
    struct wanted w = wanted_by(g, row);
    for (size_t i = 0; i < p->r->n_cells; i++)
        if (is_wanted(&p->r->cells[i], &w))
            cells[n++] = i;
    words_free(&w.params);
    const char *baseline = grid_text(g, row, "baseline");
    return *baseline ? add_baselines(p->r, baseline, cells, n) : n;
}
