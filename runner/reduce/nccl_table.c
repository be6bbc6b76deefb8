/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/nccl_table.h"

#include "base/text.h"
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
    {"fp32", "float", 4},     {"float32", "float", 4}, {"fp64", "double", 8},
    {"float64", "double", 8}, {"fp16", "half", 2},     {"float16", "half", 2},
    {"bf16", "bfloat16", 2},  {"int8", "int8", 1},     {"uint8", "uint8", 1},
    {"int32", "int32", 4},    {"int", "int32", 4},     {"uint32", "uint32", 4},
    {"int64", "int64", 8},    {"uint64", "uint64", 8}, {"float", "float", 4},
    {"double", "double", 8},  {"half", "half", 2},     {"bfloat16", "bfloat16", 2},
};

bool nccl_table_has(const struct rec_cell *cell, const struct summary *s)
{
    return cell->busbw_factor > 0 && cell->size_B > 0 && isfinite(s->time_s.median);
}

/* A section has one config and mode, and one set of other parameters; each size is a row. */
struct sections {
    const struct recorded *r;
    const struct summary *cells;
    char **where; /* of each cell: axes_where without the place; NULL: the cell is in no table */
    struct text t;
};

static bool in_place(const struct rec_cell *cell)
{
    char value[8] = "";
    recorded_param(cell, "in_place", value, sizeof value);
    return !strcmp(value, "yes");
}

static char *without_place(const char *params)
{
    AUTO_WORDS struct words w = {0};
    struct text t = {0};
    words_split(&w, params, ' ');
    for (size_t i = 0; i < w.n; i++)
        if (strncmp(w.v[i], "in_place=", strlen("in_place=")) != 0)
            text_addf(&t, "%s%s", t.len ? " " : "", w.v[i]);
    return t.s ? t.s : xstrdup("");
}

static struct sections sections_make(const struct recorded *r, const struct summary *cells)
{
    struct sections s = {r, cells, xcalloc(r->n_cells + 1, sizeof *s.where), {0}};
    struct axes axes = {0};
    char **params = xcalloc(r->n_cells + 1, sizeof *params), *first = NULL;
    for (size_t i = 0; i < r->n_cells; i++)
        if (nccl_table_has(&r->cells[i], &cells[i])) {
            params[i] = without_place(r->cells[i].params);
            first = first ? first : params[i];
            axes_add(&axes, first, params[i]);
        }
    for (size_t i = 0; i < r->n_cells; i++)
        if (params[i])
            s.where[i] = axes_where(&axes, r->cells[i].mode, params[i]);
    for (size_t i = 0; i < r->n_cells; i++)
        free(params[i]);
    free(params);
    return s;
}

static void sections_free(struct sections *s)
{
    for (size_t i = 0; i < s->r->n_cells; i++)
        free(s->where[i]);
    free(s->where);
    text_free(&s->t);
}

static bool together(const struct sections *s, size_t a, size_t b)
{
    return s->where[a] && s->where[b] && !strcmp(s->where[a], s->where[b]) &&
           !strcmp(s->r->cells[a].config, s->r->cells[b].config);
}

static bool is_new(const struct sections *s, size_t cell)
{
    size_t i = 0;
    while (i < cell && !together(s, i, cell))
        i++;
    return i == cell && s->where[cell];
}

/* The cell of the section with this size, in or out of place; n_cells: none. */
static size_t of_size(const struct sections *s, size_t first, int64_t size_B, bool placed)
{
    size_t i = first;
    while (i < s->r->n_cells && !(together(s, first, i) && s->r->cells[i].size_B == size_B &&
                                  in_place(&s->r->cells[i]) == placed))
        i++;
    return i;
}

static void add_half(struct sections *s, size_t cell)
{
    if (cell == s->r->n_cells) {
        text_addf(&s->t, " %10s %7s %7s %6s", "N/A", "N/A", "N/A", "N/A");
        return;
    }
    const struct summary *m = &s->cells[cell];
    text_addf(&s->t, " %10.2f %7.2f %7.2f %6s", m->time_s.median * 1e6, m->algbw * 1e-9,
              m->busbw * 1e-9, s->r->verified ? "0" : "N/A");
}

static void add_row(struct sections *s, size_t first, size_t cell)
{
    const struct rec_cell *c = &s->r->cells[cell];
    char dtype[64] = "-", op[64] = "-";
    const char *printed = dtype;
    int64_t bytes = 1;
    recorded_param(c, "dtype", dtype, sizeof dtype);
    recorded_param(c, "op", op, sizeof op);
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (!strcmp(elements[i].name, dtype)) {
            printed = elements[i].printed;
            bytes = elements[i].bytes;
        }
    text_addf(&s->t, "%12lld %12lld %9s %7s %7d", (long long)c->size_B,
              (long long)(c->size_B / bytes), printed, op, -1);
    add_half(s, of_size(s, first, c->size_B, false));
    add_half(s, of_size(s, first, c->size_B, true));
    text_add(&s->t, "\n");
}

static void add_titles(struct text *t, const char *const *half, const char *const *left)
{
    text_addf(t, "#%11s %12s %9s %7s %7s", left[0], left[1], left[2], left[3], left[4]);
    for (int i = 0; i < 2; i++)
        text_addf(t, " %10s %7s %7s %6s", half[0], half[1], half[2], half[3]);
    text_add(t, "\n");
}

static void add_section(struct sections *s, size_t first)
{
    static const char *const names[] = {"time", "algbw", "busbw", "#wrong"},
                             *const units[] = {"(us)", "(GB/s)", "(GB/s)", ""},
                             *const keys[] = {"size", "count", "type", "redop", "root"},
                             *const bytes[] = {"(B)", "(elements)", "", "", ""};
    const char *where = s->where[first];
    bool placed = strcmp(where, "-") != 0;
    double busbw = 0;
    size_t n = 0;
    int64_t least = s->r->cells[first].size_B, most = least;
    for (size_t i = first; i < s->r->n_cells; i++)
        if (together(s, first, i)) {
            least = s->r->cells[i].size_B < least ? s->r->cells[i].size_B : least;
            most = s->r->cells[i].size_B > most ? s->r->cells[i].size_B : most;
        }
    text_addf(&s->t, "#\n# nThread 1 nGpus 1 minBytes %lld maxBytes %lld validation: %d\n",
              (long long)least, (long long)most, s->r->verified);
    text_addf(&s->t, "#\n# config %s%s%s\n", s->r->cells[first].config, placed ? ", " : "",
              placed ? where : "");
    text_addf(&s->t, "#%51s %33s %33s\n", "", "out-of-place", "in-place");
    add_titles(&s->t, names, keys);
    add_titles(&s->t, units, bytes);
    for (size_t i = first; i < s->r->n_cells; i++) {
        if (!together(s, first, i))
            continue;
        busbw += s->cells[i].busbw * 1e-9;
        n++;
        int64_t size = s->r->cells[i].size_B;
        size_t out = of_size(s, first, size, false), in = of_size(s, first, size, true);
        if ((out < in ? out : in) == i) /* one row for both */
            add_row(s, first, i);
    }
    if (s->r->verified)
        text_add(&s->t, "# Out of bounds values : 0 OK\n");
    text_addf(&s->t, "# Avg bus bandwidth    : %g\n", busbw / (double)n);
}

char *nccl_table_text(const struct recorded *r, const struct summary *cells)
{
    struct sections s = sections_make(r, cells);
    for (size_t i = 0; i < r->n_cells; i++) {
        if (!is_new(&s, i))
            continue;
        if (!s.t.len)
            text_addf(&s.t,
                      "# %s on %s, run %s: %lld ranks on %lld node%s; median time an iteration\n",
                      r->workload, r->platform, r->run_id, (long long)r->ranks, (long long)r->nodes,
                      r->nodes == 1 ? "" : "s");
        add_section(&s, i);
    }
    char *text = s.t.s;
    s.t = (struct text){0};
    sections_free(&s);
    return text;
}
