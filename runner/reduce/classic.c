/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/classic.h"

#include "base/err.h"
#include "reduce/axes.h"
#include "reduce/iteration.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *file_name(const char *s)
{
    char *name = xstrdup(s);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._+=-", *c))
            *c = '-';
    return name;
}

void classic_open(struct classic *c, const struct recorded *r, const char *out)
{
    *c = (struct classic){.r = r};
    c->dir = xstrfmt("%s/classic/%s/%s/%s", out, r->platform, r->workload, r->run_id);
    size_t group = r->n_groups;
    for (size_t i = 0; i < r->n_cells; i++)
        if (iteration_is_step(&r->cells[i])) {
            c->several = c->several || (group < r->n_groups && group != r->cells[i].group);
            group = r->cells[i].group;
        }
}

/* ---- iteration times ---- */

static int open_times(struct classic *c, const struct rec_cell *cell, struct csv **file)
{
    size_t index = (size_t)(cell - c->r->cells);
    for (size_t i = 0; i < c->n_times; i++)
        if (c->times[i].cell == index) {
            *file = &c->times[i].file;
            return GS_OK;
        }
    char *config = file_name(cell->config), suffix[24] = "";
    if (c->several)
        snprintf(suffix, sizeof suffix, ".%zu", cell->group + 1);
    char *path = xstrfmt("%s/iteration_times_%s%s.txt", c->dir, config, suffix);
    ALLOC_MORE(c->times, c->n_times);
    c->times[c->n_times].cell = index;
    *file = &c->times[c->n_times].file;
    int code = csv_open(*file, path);
    c->n_times += !code;
    free(path);
    free(config);
    return code;
}

int classic_block(struct classic *c, const struct rec_cell *cell, const uint64_t *time_ns, size_t n,
                  uint64_t iters)
{
    struct csv *file;
    if (!iteration_is_step(cell))
        return GS_OK;
    int code = open_times(c, cell, &file);
    for (size_t i = 0; i < n && !code; i++) {
        char line[CSV_DECIMAL + 1];
        size_t len = csv_decimal(line, time_ns[i], iters, CSV_MILLISECONDS);
        line[len++] = '\n';
        csv_bytes(file, line, len);
    }
    return code;
}

static int close_times(struct classic *c, bool keep)
{
    int code = GS_OK;
    for (size_t i = 0; i < c->n_times; i++) {
        int one = csv_close(&c->times[i].file, keep && !code);
        code = code ? code : one;
    }
    c->n_times = 0;
    return code;
}

int classic_group(struct classic *c)
{
    return close_times(c, true);
}

/* ---- the table ---- */

static const struct {
    const char *name;
    int64_t bytes;
} elements[] = {
    {"float", 4}, {"float32", 4},  {"double", 8}, {"float64", 8}, {"half", 2},  {"float16", 2},
    {"int8", 1},  {"bfloat16", 2}, {"bf16", 2},   {"int32", 4},   {"int64", 8}, {"uint8", 1},
    {"fp32", 4},  {"fp16", 2},     {"fp64", 8},   {"uint32", 4},  {"int", 4},   {"uint64", 8},
};

static int64_t element_bytes(const char *dtype)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (!strcmp(elements[i].name, dtype))
            return elements[i].bytes;
    return 1;
}

static bool in_table(const struct rec_cell *cell, const struct summary *s)
{
    return cell->busbw_factor > 0 && cell->size_B > 0 && isfinite(s->time_s.median);
}

static void table_row(struct text *t, const struct recorded *r, const struct rec_cell *cell,
                      const struct summary *s)
{
    char dtype[64] = "-", op[64] = "-";
    recorded_param(cell, "dtype", dtype, sizeof dtype);
    recorded_param(cell, "op", op, sizeof op);
    text_addf(t, "%12lld %12lld %9s %7s %7d %10.2f %7.2f %7.2f %6s\n", (long long)cell->size_B,
              (long long)(cell->size_B / element_bytes(dtype)), dtype, op, -1,
              s->time_s.median * 1e6, s->algbw * 1e-9, s->busbw * 1e-9, r->verified ? "0" : "N/A");
}

/* A section has one config and mode, and one set of other parameters; each size is a row. */
struct sections {
    const struct recorded *r;
    const struct summary *cells;
    char **where; /* of each cell: axes_where; NULL: the cell is in no table */
};

static struct sections sections_make(const struct recorded *r, const struct summary *cells)
{
    struct sections s = {r, cells, xcalloc(r->n_cells + 1, sizeof *s.where)};
    struct axes axes = {0};
    const char *first = NULL;
    for (size_t i = 0; i < r->n_cells; i++)
        if (in_table(&r->cells[i], &cells[i])) {
            first = first ? first : r->cells[i].params;
            axes_add(&axes, first, r->cells[i].params);
        }
    for (size_t i = 0; i < r->n_cells; i++)
        if (in_table(&r->cells[i], &cells[i]))
            s.where[i] = axes_where(&axes, r->cells[i].mode, r->cells[i].params);
    return s;
}

static void sections_free(struct sections *s)
{
    for (size_t i = 0; i < s->r->n_cells; i++)
        free(s->where[i]);
    free(s->where);
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

static void add_section(struct text *t, const struct sections *s, size_t first)
{
    const char *where = s->where[first];
    bool placed = strcmp(where, "-") != 0;
    text_addf(t, "#\n# config %s%s%s\n", s->r->cells[first].config, placed ? ", " : "",
              placed ? where : "");
    text_addf(t, "#%11s %12s %9s %7s %7s %10s %7s %7s %6s\n", "size", "count", "type", "redop",
              "root", "time", "algbw", "busbw", "#wrong");
    text_addf(t, "#%11s %12s %9s %7s %7s %10s %7s %7s %6s\n", "(B)", "(elements)", "", "", "",
              "(us)", "(GB/s)", "(GB/s)", "");
    for (size_t i = first; i < s->r->n_cells; i++)
        if (together(s, first, i))
            table_row(t, s->r, &s->r->cells[i], &s->cells[i]);
}

int classic_table(struct classic *c, const struct summary *cells)
{
    const struct recorded *r = c->r;
    struct text t = {0};
    struct sections s = sections_make(r, cells);
    for (size_t i = 0; i < r->n_cells; i++) {
        if (!is_new(&s, i))
            continue;
        if (!t.len)
            text_addf(&t,
                      "# %s on %s, run %s: %lld ranks on %lld node%s; median time an iteration\n",
                      r->workload, r->platform, r->run_id, (long long)r->ranks, (long long)r->nodes,
                      r->nodes == 1 ? "" : "s");
        add_section(&t, &s, i);
    }
    sections_free(&s);
    int code = GS_OK;
    if (t.len) {
        struct csv file;
        char *path = xstrfmt("%s/allreduce.txt", c->dir);
        code = csv_open(&file, path);
        if (!code) {
            csv_bytes(&file, t.s, t.len);
            code = csv_close(&file, true);
        }
        free(path);
    }
    text_free(&t);
    return code;
}

void classic_close(struct classic *c)
{
    close_times(c, false);
    free(c->times);
    free(c->dir);
    *c = (struct classic){0};
}
