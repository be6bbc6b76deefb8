/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/nccl_table.h"

#include "base/text.h"
#include "common/collective.h"
#include "reduce/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of gradsync and of imports; the name that nccl-tests prints. */
static const struct {
    const char *name, *printed;
    int64_t bytes;
} elements[] = {
    {"fp32", "float", 4},      {"float32", "float", 4},   {"fp64", "double", 8},
    {"float64", "double", 8},  {"fp16", "half", 2},       {"float16", "half", 2},
    {"bf16", "bfloat16", 2},   {"int8", "int8", 1},       {"uint8", "uint8", 1},
    {"int32", "int32", 4},     {"int", "int32", 4},       {"uint32", "uint32", 4},
    {"int64", "int64", 8},     {"uint64", "uint64", 8},   {"float", "float", 4},
    {"double", "double", 8},   {"half", "half", 2},       {"bfloat16", "bfloat16", 2},
    {"fp8_e4m3", "f8e4m3", 1}, {"fp8_e5m2", "f8e5m2", 1},
};

/* A table has one config and mode, and one set of other parameters; each size is a row. */
struct tables {
    const struct recorded *r;
    const struct summary *cells;
    char **where; /* of each cell: axes_where without the place; NULL: the cell is in no table */
};

static void find_tables(struct tables *s)
{
    const struct recorded *r = s->r;
    AUTO_WORDS struct words params = {
        0}; /* of each cell, without its place; "" of one in no table */
    struct axes axes = {0};
    const char *first = NULL;
    for (size_t i = 0; i < r->n_cells; i++) {
        const struct rec_cell *c = &r->cells[i];
        AUTO_WORDS struct words w = {0};
        AUTO_TEXT struct text t = {0};
        text_add(&t, "");
        if (c->busbw_factor > 0 && c->size_B > 0 && isfinite(s->cells[i].time_s.median))
            words_split(&w, c->params, ' ');
        for (size_t k = 0; k < w.n; k++)
            if (strncmp(w.v[k], "in_place=", strlen("in_place=")) != 0)
                text_addf(&t, "%s%s", t.len ? " " : "", w.v[k]);
        words_add(&params, t.s);
        first = first || !t.len ? first : params.v[i];
        if (t.len)
            axes_add(&axes, first, params.v[i]);
    }
    s->where = xcalloc(r->n_cells + 1, sizeof *s->where);
    for (size_t i = 0; i < r->n_cells; i++)
        if (*params.v[i])
            s->where[i] = axes_where(&axes, r->cells[i].mode, params.v[i]);
}

static bool together(const struct tables *s, size_t a, size_t b)
{
    return s->where[a] && s->where[b] && !strcmp(s->where[a], s->where[b]) &&
           !strcmp(s->r->cells[a].config, s->r->cells[b].config);
}

static enum collective collective_of(const struct rec_cell *cell)
{
    char name[32] = "";
    recorded_param(cell, "collective", name, sizeof name);
    return collective_named(name);
}

/* The times in place or out of place. */
static void add_half(struct text *t, const struct tables *s, size_t first, int64_t size_B,
                     bool in_place)
{
    for (size_t i = first; i < s->r->n_cells; i++) {
        const struct rec_cell *c = &s->r->cells[i];
        const struct summary *m = &s->cells[i];
        char value[8] = "";
        recorded_param(c, "in_place", value, sizeof value);
        if (!together(s, first, i) || c->size_B != size_B || !strcmp(value, "yes") != in_place)
            continue;
        text_addf(t, " %10.2f %7.2f %7.2f %6s", m->time_s.median * 1e6, m->algbw * 1e-9,
                  m->busbw * 1e-9, s->r->verified ? "0" : "N/A");
        return;
    }
    text_addf(t, " %10s %7s %7s %6s", "N/A", "N/A", "N/A", "N/A");
}

static void add_row(struct text *t, const struct tables *s, size_t first, const struct rec_cell *c)
{
    enum collective collective = collective_of(c);
    char dtype[64] = "-", op[64] = "-";
    int64_t bytes = 1;
    recorded_param(c, "dtype", dtype, sizeof dtype);
    recorded_param(c, "op", op, sizeof op);
    for (size_t i = 0; i < COUNT(elements); i++)
        if (!strcmp(elements[i].name, dtype)) {
            snprintf(dtype, sizeof dtype, "%s", elements[i].printed);
            bytes = elements[i].bytes;
            break;
        }
    size_t count = collective_counted(collective, (size_t)(c->size_B / bytes),
                                      s->r->ranks > 0 ? (size_t)s->r->ranks : 1);
    text_addf(t, "%12lld %12lld %9s %7s %7d", (long long)c->size_B, (long long)count, dtype,
              collective_reduces(collective) ? op : "none",
              collective_has_root(collective) ? COLLECTIVE_ROOT : -1);
    add_half(t, s, first, c->size_B, false);
    add_half(t, s, first, c->size_B, true);
    text_add(t, "\n");
}

static void add_titles(struct text *t, const char *const *half, const char *const *left)
{
    text_addf(t, "#%11s %12s %9s %7s %7s", left[0], left[1], left[2], left[3], left[4]);
    for (int i = 0; i < 2; i++)
        text_addf(t, " %10s %7s %7s %6s", half[0], half[1], half[2], half[3]);
    text_add(t, "\n");
}

static void add_table(struct text *t, const struct tables *s, size_t first)
{
    static const char *const names[] = {"time", "algbw", "busbw", "#wrong"},
                             *const units[] = {"(us)", "(GB/s)", "(GB/s)", ""},
                             *const keys[] = {"size", "count", "type", "redop", "root"},
                             *const bytes[] = {"(B)", "(elements)", "", "", ""};
    const struct recorded *r = s->r;
    const char *where = s->where[first];
    const bool placed = strcmp(where, "-") != 0;
    int64_t least = r->cells[first].size_B, most = least;
    double busbw_GBs = 0;
    size_t n = 0;
    for (size_t i = first; i < r->n_cells; i++) {
        int64_t size = r->cells[i].size_B;
        if (!together(s, first, i))
            continue;
        least = size < least ? size : least;
        most = size > most ? size : most;
        busbw_GBs += s->cells[i].busbw * 1e-9;
        n++;
    }
    text_addf(t, "#\n# Collective test starting: %s\n",
              collective_program(collective_of(&r->cells[first])));
    text_addf(t, "# nThread 1 nGpus 1 minBytes %lld maxBytes %lld validation: %d\n",
              (long long)least, (long long)most, r->verified);
    text_addf(t, "#\n# config %s%s%s\n", r->cells[first].config, placed ? ", " : "",
              placed ? where : "");
    text_addf(t, "#%51s %33s %33s\n", "", "out-of-place", "in-place");
    add_titles(t, names, keys);
    add_titles(t, units, bytes);
    for (size_t i = first; i < r->n_cells; i++) {
        bool seen = !together(s, first, i); /* the other half of a row that is there */
        for (size_t k = first; k < i && !seen; k++)
            seen = together(s, first, k) && r->cells[k].size_B == r->cells[i].size_B;
        if (!seen)
            add_row(t, s, first, &r->cells[i]);
    }
    if (r->verified)
        text_add(t, "# Out of bounds values : 0 OK\n");
    text_addf(t, "# Avg bus bandwidth    : %g\n", busbw_GBs / (double)n);
}

char *nccl_table_text(const struct recorded *r, const struct summary *cells)
{
    struct tables s = {.r = r, .cells = cells};
    struct text t = {0};
    find_tables(&s);
    for (size_t i = 0; i < r->n_cells; i++) {
        size_t k = 0;
        while (k < i && !together(&s, k, i))
            k++;
        if (k < i || !s.where[i])
            continue;
        if (!t.len)
            text_addf(&t, "# %s on %s, run %s: %s; median time an iteration\n", r->workload,
                      r->platform, r->run_id, RANKS_ON((long long)r->ranks, (long long)r->nodes));
        add_table(&t, &s, i);
    }
    for (size_t i = 0; i < r->n_cells; i++)
        free(s.where[i]);
    free(s.where);
    return t.s;
}
