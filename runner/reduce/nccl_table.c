/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/nccl_table.h"

#include "base/jsontext.h"
#include "base/text.h"
#include "common/collective.h"
#include "reduce/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sections ---- */

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

static enum collective collective_of(const struct rec_cell *cell)
{
    char name[32] = "";
    recorded_param(cell, "collective", name, sizeof name);
    return collective_named(name);
}

static bool has_numbers(const struct rec_cell *cell, const struct summary *s)
{
    return cell->busbw_factor > 0 && cell->size_B > 0 && isfinite(s->time_s.median);
}

/* A section has one config and mode, and one set of other parameters; each size is a row. */
struct nccl_sections {
    const struct recorded *r;
    const struct summary *cells;
    char **where; /* of each cell: axes_where without the place; NULL: the cell is in no table */
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

static struct nccl_sections sections_make(const struct recorded *r, const struct summary *cells)
{
    struct nccl_sections s = {r, cells, xcalloc(r->n_cells + 1, sizeof *s.where)};
    struct axes axes = {0};
    char **params = xcalloc(r->n_cells + 1, sizeof *params), *first = NULL;
    for (size_t i = 0; i < r->n_cells; i++)
        if (has_numbers(&r->cells[i], &cells[i])) {
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

static void sections_free(struct nccl_sections *s)
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

/* Does a section begin with this cell? */
static bool sections_is_new(const struct nccl_sections *s, size_t cell)
{
    size_t i = 0;
    while (i < cell && !together(s, i, cell))
        i++;
    return i == cell && s->where[cell];
}

/* The cell of the section with this size, in or out of place; n_cells: none. */
static size_t sections_of_size(const struct nccl_sections *s, size_t first, int64_t size_B,
                               bool placed)
{
    size_t i = first;
    while (i < s->r->n_cells && !(together(s, first, i) && s->r->cells[i].size_B == size_B &&
                                  in_place(&s->r->cells[i]) == placed))
        i++;
    return i;
}

/* What a row says beside the times. */
struct nccl_operation_words {
    int64_t count;
    char dtype[64], op[64]; /* as nccl-tests names them */
    int root;
};

static struct nccl_operation_words sections_operation(const struct nccl_sections *s,
                                                      const struct rec_cell *c)
{
    enum collective collective = collective_of(c);
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

/* Sizes and the mean bus bandwidth of a section. */
struct nccl_extent {
    int64_t least, most;
    double busbw_GBs;
};

static struct nccl_extent sections_extent(const struct nccl_sections *s, size_t first)
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

/* Does a row begin with it, which has out of place and in place? */
static bool sections_begins_row(const struct nccl_sections *s, size_t first, size_t cell)
{
    if (!together(s, first, cell))
        return false;
    int64_t size = s->r->cells[cell].size_B;
    size_t out = sections_of_size(s, first, size, false),
           in = sections_of_size(s, first, size, true);
    return (out < in ? out : in) == cell;
}

/* ---- tables ---- */

static void add_half(struct text *t, const struct nccl_sections *s, size_t cell)
{
    if (cell == s->r->n_cells) {
        text_addf(t, " %10s %7s %7s %6s", "N/A", "N/A", "N/A", "N/A");
        return;
    }
    const struct summary *m = &s->cells[cell];
    text_addf(t, " %10.2f %7.2f %7.2f %6s", m->time_s.median * 1e6, m->algbw * 1e-9,
              m->busbw * 1e-9, s->r->verified ? "0" : "N/A");
}

static void add_row(struct text *t, const struct nccl_sections *s, size_t first, size_t cell)
{
    const struct rec_cell *c = &s->r->cells[cell];
    struct nccl_operation_words o = sections_operation(s, c);
    text_addf(t, "%12lld %12lld %9s %7s %7d", (long long)c->size_B, (long long)o.count, o.dtype,
              o.op, o.root);
    add_half(t, s, sections_of_size(s, first, c->size_B, false));
    add_half(t, s, sections_of_size(s, first, c->size_B, true));
    text_add(t, "\n");
}

static void add_titles(struct text *t, const char *const *half, const char *const *left)
{
    text_addf(t, "#%11s %12s %9s %7s %7s", left[0], left[1], left[2], left[3], left[4]);
    for (int i = 0; i < 2; i++)
        text_addf(t, " %10s %7s %7s %6s", half[0], half[1], half[2], half[3]);
    text_add(t, "\n");
}

static void add_section(struct text *t, const struct nccl_sections *s, size_t first)
{
    static const char *const names[] = {"time", "algbw", "busbw", "#wrong"},
                             *const units[] = {"(us)", "(GB/s)", "(GB/s)", ""},
                             *const keys[] = {"size", "count", "type", "redop", "root"},
                             *const bytes[] = {"(B)", "(elements)", "", "", ""};
    const char *where = s->where[first];
    bool placed = strcmp(where, "-") != 0;
    struct nccl_extent e = sections_extent(s, first);
    text_addf(t, "#\n# Collective test starting: %s\n",
              collective_program(collective_of(&s->r->cells[first])));
    text_addf(t, "# nThread 1 nGpus 1 minBytes %lld maxBytes %lld validation: %d\n",
              (long long)e.least, (long long)e.most, s->r->verified);
    text_addf(t, "#\n# config %s%s%s\n", s->r->cells[first].config, placed ? ", " : "",
              placed ? where : "");
    text_addf(t, "#%51s %33s %33s\n", "", "out-of-place", "in-place");
    add_titles(t, names, keys);
    add_titles(t, units, bytes);
    for (size_t i = first; i < s->r->n_cells; i++)
        if (sections_begins_row(s, first, i))
            add_row(t, s, first, i);
    if (s->r->verified)
        text_add(t, "# Out of bounds values : 0 OK\n");
    text_addf(t, "# Avg bus bandwidth    : %g\n", e.busbw_GBs);
}

char *nccl_table_text(const struct recorded *r, const struct summary *cells)
{
    struct nccl_sections s = sections_make(r, cells);
    struct text t = {0};
    for (size_t i = 0; i < r->n_cells; i++) {
        if (!sections_is_new(&s, i))
            continue;
        if (!t.len)
            text_addf(&t, "# %s on %s, run %s: %s; median time an iteration\n", r->workload,
                      r->platform, r->run_id, RANKS_ON((long long)r->ranks, (long long)r->nodes));
        add_section(&t, &s, i);
    }
    sections_free(&s);
    return t.s;
}

/* ---- JSON ---- */

static json_t *json_half(const struct nccl_sections *s, size_t cell)
{
    if (cell == s->r->n_cells)
        return json_null();
    const struct summary *m = &s->cells[cell];
    return json_pack("{sf sf sf so}", "time", m->time_s.median * 1e6, "alg_bw", m->algbw * 1e-9,
                     "bus_bw", m->busbw * 1e-9, "nwrong",
                     s->r->verified ? json_real(0) : json_null());
}

static json_t *json_row(const struct nccl_sections *s, size_t first, size_t cell)
{
    const struct rec_cell *c = &s->r->cells[cell];
    struct nccl_operation_words o = sections_operation(s, c);
    char root[16];
    snprintf(root, sizeof root, "%6d", o.root);
    return json_pack("{sI sI so so ss so so si ss}", "size", (json_int_t)c->size_B, "count",
                     (json_int_t)o.count, "type", json_text(o.dtype), "redop", json_text(o.op),
                     "root", root, "out_of_place",
                     json_half(s, sections_of_size(s, first, c->size_B, false)), "in_place",
                     json_half(s, sections_of_size(s, first, c->size_B, true)), "actual_iterations",
                     1, "experiment_name", "");
}

/* The recording's hosts are not in the summary: each rank is a device. */
static json_t *json_devices(const struct nccl_sections *s)
{
    json_t *devices = json_array();
    for (int64_t i = 0; i < s->r->ranks; i++)
        json_array_append_new(devices,
                              json_pack("{sI si si ss sI ss ss}", "rank", (json_int_t)i, "group", 0,
                                        "pid", 0, "hostname", "", "device", (json_int_t)i,
                                        "device_hex", "", "device_info", ""));
    return devices;
}

/* The report of one program of nccl-tests (-J, version 3), and what gradsync adds. */
static json_t *json_section(const struct nccl_sections *s, size_t first)
{
    const struct rec_cell *c = &s->r->cells[first];
    struct nccl_extent e = sections_extent(s, first);
    char launch[16] = "";
    recorded_param(c, "launch", launch, sizeof launch);
    json_t *rows = json_array();
    for (size_t i = first; i < s->r->n_cells; i++)
        if (sections_begins_row(s, first, i))
            json_array_append_new(rows, json_row(s, first, i));
    return json_pack(
        "{si ss s[s] s[] s{si si sI sI si si si si so} so s{si ss} s{sf ss} s[] s{so so so so so}}",
        "version", 3, "start_time", "", "args", collective_program(collective_of(c)), "env",
        "config", "nthreads", 1, "ngpus", 1, "minimum_bytes", (json_int_t)e.least, "maximum_bytes",
        (json_int_t)e.most, "iterations", 1, "aggregated_iterations", 1, "validation",
        (int)s->r->verified, "graph", (int)!strcmp(launch, "graph"), "devices", json_devices(s),
        "results", rows, "out_of_bounds", "count", 0, "okay", "true", "average_bus_bandwidth",
        "bandwidth", e.busbw_GBs, "okay", "unchecked", "errors", "gradsync", "platform",
        json_text(s->r->platform), "run_id", json_text(s->r->run_id), "config",
        json_text(c->config), "mode", json_text(c->mode), "params", json_text(s->where[first]));
}

char *nccl_table_json(const struct recorded *r, const struct summary *cells)
{
    struct nccl_sections s = sections_make(r, cells);
    AUTO_JSON json_t *all = json_array();
    for (size_t i = 0; i < r->n_cells; i++)
        if (sections_is_new(&s, i))
            json_array_append_new(all, json_section(&s, i));
    const json_t *one = json_array_size(all) == 1 ? json_array_get(all, 0) : all;
    AUTO_FREE char *dump = json_array_size(all) ? json_dumps(one, JSON_INDENT(1)) : NULL;
    char *text = dump ? xstrfmt("%s\n", dump) : NULL;
    sections_free(&s);
    return text;
}
