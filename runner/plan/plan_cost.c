/* SPDX-License-Identifier: Apache-2.0 */

#include "base/err.h"
#include "base/files.h"
#include "base/term.h"
#include "base/text.h"
#include "base/units.h"
#include "config/params.h"
#include "config/settings.h"
#include "plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rough, and good enough to choose between a minute and an hour. */
#define LAUNCH_S 1.5       /* starting and ending the ranks */
#define PREPARE_S 0.01     /* a cell, beside its memory */
#define AUTO_SAMPLE_S 1e-4 /* what the clock's resolution usually leads to */
#define HOST_BPS 4e9       /* filling, poisoning and verifying buffers */
#define DEVICE_BPS 1e12

/* ---- time and memory ---- */

static void add_group(const struct plan *p, const struct group *g, struct plan_cost *cost)
{
    const struct set_measure *m = &p->set.measure;
    double block = 0, once = 0, visits = (double)(m->samples + m->discard);
    double sample = m->sample_time > 0 ? m->sample_time : AUTO_SAMPLE_S;
    uint64_t host = 0, device = 0;
    for (size_t i = g->first; i < g->first + g->n; i++) {
        const struct cell *c = &p->cells[i];
        double n = plan_group_copies(p, g, c);
        double memory_s =
            (double)c->shape.host_B / HOST_BPS + (double)c->shape.device_B / DEVICE_BPS;
        if (c->skip)
            continue;
        double one = c->shape.iteration_s * (c->shape.iters_min > 1 ? c->shape.iters_min : 1);
        block += n * (visits * fmax(one, sample) + memory_s);
        once += n * (PREPARE_S + memory_s + (double)m->warmup_ops * c->shape.iteration_s);
        host += (uint64_t)n * c->shape.host_B;
        device += (uint64_t)n * c->shape.device_B;
    }
    /* A block is finished whatever the budget, which counts from the first preparation. */
    once = fmax(once, m->warmup);
    double least =
        once +
        (double)(m->max_blocks < SET_LEAST_BLOCKS ? m->max_blocks : SET_LEAST_BLOCKS) * block;
    cost->time_s += fmax(least, fmin(once + (double)m->blocks * block, m->budget));
    cost->most_s += fmax(least, fmin(once + (double)m->max_blocks * block, m->budget + block));
    cost->host_B = host > cost->host_B ? host : cost->host_B;
    cost->device_B = device > cost->device_B ? device : cost->device_B;
}

struct plan_cost plan_cost(const struct plan *p)
{
    struct plan_cost cost = {0};
    double launches = (double)p->set.measure.launches;
    for (size_t i = 0; i < p->n_groups; i++)
        add_group(p, &p->groups[i], &cost);
    cost.time_s = launches * (cost.time_s + LAUNCH_S);
    cost.most_s = launches * (cost.most_s + LAUNCH_S);
    return cost;
}

int plan_memory_check(const struct plan *p)
{
    uint64_t local = (uint64_t)(p->set.launch.ranks / p->set.launch.nodes);
    uint64_t one = plan_cost(p).host_B, all, there = UINT64_MAX;
    unsigned long long kib = 0;
    char line[256];
    AUTO_FCLOSE FILE *memory = fopen("/proc/meminfo", "re");
    while (memory && fgets(line, sizeof line, memory) &&
           sscanf(line, "MemAvailable: %llu", &kib) != 1)
        ;
    if (kib)
        there = kib * 1024;
    if (!__builtin_mul_overflow(one, local, &all) && all <= there)
        return GS_OK;
    return fail_at(GS_CANNOT, p->config->path, config_section(p->config, p->section)->line,
                   "[%s] needs %s of memory on each of %llu ranks, %s in all, but %s are free: "
                   "use smaller sizes, or fewer configs at once",
                   p->section, HUMAN_SIZE(one), (unsigned long long)local,
                   HUMAN_SIZE((double)one * (double)local), HUMAN_SIZE(there));
}

/* ---- the table ---- */

static bool varies(const struct plan *p, const struct wl_param *param)
{
    size_t size = param_size(param), at = param->offset;
    for (size_t i = 1; i < p->n_cells; i++)
        if (memcmp((const char *)p->cells[0].values + at, (const char *)p->cells[i].values + at,
                   size))
            return true;
    return false;
}

struct table {
    const struct plan *p;
    const struct wl_param **params; /* a column each */
    size_t n;
    bool mode, skipped; /* such a column */
    struct words cells,
        reasons; /* reasons: of cells that are skipped; they stand below the table */
};

static void add_row(struct table *t, const struct cell *c)
{
    char buf[256];
    words_add(&t->cells, c->id);
    words_add(&t->cells, *c->config ? c->config : "-");
    if (t->mode)
        words_add(&t->cells, c->mode);
    for (size_t i = 0; i < t->n; i++)
        if (!strcmp(t->params[i]->name, "size") && c->shape.size_B) /* shorter */
            words_add(&t->cells, units_short_size(buf, sizeof buf, c->shape.size_B));
        else
            words_add(&t->cells, param_format(t->params[i], c->values, buf, sizeof buf));
    if (t->skipped && c->skip)
        words_addf(&t->cells, "[%zu]", words_add_once(&t->reasons, c->skip) + 1);
    else if (t->skipped)
        words_add(&t->cells, "");
}

void plan_table(const struct plan *p)
{
    struct table t = {.p = p};
    /* Config and mode stand for their parameters; size is shown even where it is one. */
    for (const struct wl_param *q = p->plugin->wl.params; q->name; q++)
        if (q->role == WL_AXIS && (!strcmp(q->name, "size") || varies(p, q)))
            APPEND(t.params, t.n) = q;
    for (size_t i = 0; i < p->n_cells; i++) {
        t.mode = t.mode || *p->cells[i].mode;
        t.skipped = t.skipped || p->cells[i].skip;
    }
    words_add(&t.cells, "cell");
    words_add(&t.cells, "config");
    if (t.mode)
        words_add(&t.cells, "mode");
    for (size_t i = 0; i < t.n; i++)
        words_add(&t.cells, t.params[i]->name);
    if (t.skipped)
        words_add(&t.cells, "skipped");
    size_t columns = t.cells.n;
    for (size_t i = 0; i < p->n_cells; i++)
        add_row(&t, &p->cells[i]);
    text_table_print(&t.cells, columns, 0, NULL);
    for (size_t i = 0; i < t.reasons.n; i++) {
        AUTO_FREE char *line = xstrfmt("[%zu] %s", i + 1, t.reasons.v[i]);
        screen_say(line);
    }
    words_free(&t.cells);
    words_free(&t.reasons);
    free(t.params);
}
