/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/nccl_sections.h"

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
    {"fp32", "float", 4},      {"float32", "float", 4},   {"fp64", "double", 8},
    {"float64", "double", 8},  {"fp16", "half", 2},       {"float16", "half", 2},
    {"bf16", "bfloat16", 2},   {"int8", "int8", 1},       {"uint8", "uint8", 1},
    {"int32", "int32", 4},     {"int", "int32", 4},       {"uint32", "uint32", 4},
    {"int64", "int64", 8},     {"uint64", "uint64", 8},   {"float", "float", 4},
    {"double", "double", 8},   {"half", "half", 2},       {"bfloat16", "bfloat16", 2},
    {"fp8_e4m3", "f8e4m3", 1}, {"fp8_e5m2", "f8e5m2", 1},
};

enum collective nccl_sections_collective(const struct rec_cell *cell)
{
    char name[32] = "";
    recorded_param(cell, "collective", name, sizeof name);
    return collective_named(name);
}

bool nccl_sections_has(const struct rec_cell *cell, const struct summary *s)
{
    return cell->busbw_factor > 0 && cell->size_B > 0 && isfinite(s->time_s.median);
}

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

struct nccl_sections nccl_sections_make(const struct recorded *r, const struct summary *cells)
{
    struct nccl_sections s = {r, cells, xcalloc(r->n_cells + 1, sizeof *s.where)};
    struct axes axes = {0};
    char **params = xcalloc(r->n_cells + 1, sizeof *params), *first = NULL;
    for (size_t i = 0; i < r->n_cells; i++)
        if (nccl_sections_has(&r->cells[i], &cells[i])) {
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

void nccl_sections_free(struct nccl_sections *s)
{
    for (size_t i = 0; i < s->r->n_cells; i++)
        free(s->where[i]);
    free(s->where);
}

static bool together(const struct nccl_sections *s, size_t a, size_t b)
{
    return s->where[a] && s->where[b] && !strcmp(s->where[a], s->where[b]) &&
           !strcmp(s->r->cells[a].config, s->r->cells[b].config);
}

bool nccl_sections_is_new(const struct nccl_sections *s, size_t cell)
{
    size_t i = 0;
    while (i < cell && !together(s, i, cell))
        i++;
    return i == cell && s->where[cell];
}

size_t nccl_sections_of_size(const struct nccl_sections *s, size_t first, int64_t size_B,
                             bool placed)
{
    size_t i = first;
    while (i < s->r->n_cells && !(together(s, first, i) && s->r->cells[i].size_B == size_B &&
                                  in_place(&s->r->cells[i]) == placed))
        i++;
    return i;
}

struct nccl_operation_words nccl_sections_operation(const struct nccl_sections *s,
                                                    const struct rec_cell *c)
{
    enum collective collective = nccl_sections_collective(c);
    struct nccl_operation_words o = {.dtype = "-", .op = "-", .root = -1};
    int64_t bytes = 1;
    recorded_param(c, "dtype", o.dtype, sizeof o.dtype);
    recorded_param(c, "op", o.op, sizeof o.op);
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (!strcmp(elements[i].name, o.dtype)) {
            snprintf(o.dtype, sizeof o.dtype, "%s", elements[i].printed);
            bytes = elements[i].bytes;
            break;
        }
    if (!collective_reduces(collective))
        snprintf(o.op, sizeof o.op, "none");
    if (collective_has_root(collective))
        o.root = COLLECTIVE_ROOT;
    o.count = (int64_t)collective_counted(collective, (size_t)(c->size_B / bytes),
                                          s->r->ranks > 0 ? (size_t)s->r->ranks : 1);
    return o;
}

struct nccl_extent nccl_sections_extent(const struct nccl_sections *s, size_t first)
{
    struct nccl_extent e = {s->r->cells[first].size_B, s->r->cells[first].size_B, 0};
    size_t n = 0;
    for (size_t i = first; i < s->r->n_cells; i++) {
        if (!together(s, first, i))
            continue;
        int64_t size = s->r->cells[i].size_B;
        e.least = size < e.least ? size : e.least;
        e.most = size > e.most ? size : e.most;
        e.busbw_GBs += s->cells[i].busbw * 1e-9;
        n++;
    }
    e.busbw_GBs /= (double)n;
    return e;
}

bool nccl_sections_begins_row(const struct nccl_sections *s, size_t first, size_t cell)
{
    if (!together(s, first, cell))
        return false;
    int64_t size = s->r->cells[cell].size_B;
    size_t out = nccl_sections_of_size(s, first, size, false),
           in = nccl_sections_of_size(s, first, size, true);
    return (out < in ? out : in) == cell;
}
