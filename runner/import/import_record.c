/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/jsontext.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/units.h"
#include "base/version.h"
#include "import/import_launch.h"
#include "plan/plan.h"
#include "record/provenance.h"
#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *header(const struct import_launch *l, const char *dir, int number)
{
    char at[32];
    const struct imp_test *t = l->test;
    char word[17];
    snprintf(word, sizeof word, "%.15s", l->file->imp->sha256);
    json_t *h =
        json_pack("{ss si ss ss so so ss ss si si so sI}", "type", "header", "schema",
                  RECORD_SCHEMA, "gradsync", GRADSYNC_VERSION, "commit", gradsync_commit, "run_id",
                  json_text(path_name(dir)), "platform", json_text(l->platform), "workload",
                  t->workload, "label", IMPORT_LABEL, "launch", number, "attempt", 1, "started",
                  json_text(t->started), "seed", (json_int_t)strtoull(word, NULL, 16));
    json_object_set_new(h, "ranks", json_integer(l->ranks));
    json_object_set_new(h, "nodes", json_integer(l->nodes));
    json_object_set_new(h, "plugin", json_text(*t->tool ? t->tool : l->file->imp->format));
    json_object_set_new(h, "imported",
                        json_pack("{so ss ss so sI ss}", "path", json_text(l->file->imp->name),
                                  "sha256", l->file->imp->sha256, "format", l->file->imp->format,
                                  "version", json_text(t->tool), "line", (json_int_t)t->line, "at",
                                  provenance_time(at, sizeof at)));
    if (t->hosts)
        json_object_set(h, "hosts", t->hosts);
    return h;
}

static int note(struct record *r, const char *key, const char *value)
{
    return value && *value
               ? record_line(r, json_pack("{ss ss si ss so}", "type", "note", "cell", "", "copy", 0,
                                          "key", key, "value", json_text(value)))
               : GS_OK;
}

/* The parameters of the cell, with the names of the plugins. */
static json_t *params(const struct import_launch *l, const struct imp_cell *c)
{
    static const enum fact told[] = {FACT_CONTENTION, FACT_MODE, FACT_ALGORITHM,
                                     FACT_PROTOCOL,   FACT_CTAS, FACT_MEMORY};
    char size[32], root[24];
    const bool nccl = !strncmp(l->test->workload, "nccl_", 5);
    snprintf(root, sizeof root, "%lld", (long long)c->root);
    const char *const rows[][2] = {
        {"size", c->size_B ? units_size(size, sizeof size, (uint64_t)c->size_B) : ""},
        {"dtype", c->dtype},
        {"op", c->op},
        {"root", c->root >= 0 ? root : ""},
        {"in_place", c->in_place < 0 ? ""
                     : c->in_place   ? "yes"
                                     : "no"},
        {"metric", l->test->metric},
        {"launch", !nccl            ? ""
                   : l->test->graph ? "graph"
                                    : "stream"},
        {"collective", l->test->collective ? l->test->collective : ""},
    };
    json_t *o = json_object();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (*rows[i][1])
            json_object_set_new(o, rows[i][0], json_text(rows[i][1]));
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (l->facts.value[told[i]])
            json_object_set_new(o, fact_names[told[i]], json_text(l->facts.value[told[i]]));
    return o;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The hash of the coordinates and the sorted parameters, as in plan.h. */
static void cell_id(char id[PLAN_ID], const struct import_launch *l, json_t *params_of_it)
{
    char *lines[32], hex[65];
    const char *key;
    json_t *v;
    size_t n = 0;
    AUTO_TEXT struct text t = {0};
    text_addf(&t, "platform=%s\nworkload=%s\nranks=%lld\nnodes=%lld\n", l->platform,
              l->test->workload, (long long)l->ranks, (long long)l->nodes);
    json_object_foreach(params_of_it, key, v) lines[n++] =
        xstrfmt("%s=%s\n", key, json_string_value(v));
    lines[n++] = xstrfmt("config=%s\n", l->config);
    qsort(lines, n, sizeof *lines, by_text);
    for (size_t i = 0; i < n; i++) {
        text_add(&t, lines[i]);
        free(lines[i]);
    }
    sha256_hex(t.s, t.len, hex);
    snprintf(id, PLAN_ID, "%.*s", PLAN_ID - 1, hex);
}

/* About how many blocks a cell has at most: a reader of recordings holds all blocks of a cell. */
#define BLOCKS 4096

/* One sample a block; of very many samples, a power of two of consecutive ones. */
static uint64_t block_size(uint64_t samples)
{
    uint64_t size = 1;
    while (samples / size > BLOCKS)
        size *= 2;
    return size;
}

/* A rest of less than a block goes with the last block. *blocks: their number. */
static int put_blocks(struct record *r, const struct imp_cell *c, const char *id,
                      json_int_t *blocks)
{
    char head[160];
    uint64_t size = block_size(c->n_samples);
    int code = GS_OK;
    *blocks = 0;
    for (size_t i = 0, end; i < c->n_samples && !code; i = end) {
        end = c->n_samples - i < 2 * size ? c->n_samples : i + size;
        snprintf(head, sizeof head,
                 "{\"type\":\"block\",\"cell\":\"%s\",\"copy\":0,\"block\":%lld,\"iters\":%llu", id,
                 (long long)++*blocks, (unsigned long long)c->iters);
        code = record_block_text(r, head, c->time_ns + i, end - i);
    }
    return code;
}

static json_t *cell_line(const struct import_launch *l, const struct imp_cell *c, const char *id,
                         const char *group, json_t *p)
{
    const char *mode = l->facts.value[FACT_MODE];
    return json_pack("{ss ss ss si so so so sI sf sb sI s[] sb}", "type", "cell", "cell", id,
                     "group", group, "copy", 0, "config", json_text(l->config), "mode",
                     json_text(mode ? mode : ""), "params", p, "size_B", (json_int_t)c->size_B,
                     "busbw_factor", import_factor(l->test->factor, l->ranks), "span", 0, "iters",
                     (json_int_t)c->iters, "metrics", "baseline", 0);
}

static int put_cell(struct record *r, const struct import_launch *l, const struct imp_cell *c)
{
    char id[PLAN_ID], group[65];
    struct imp_cell sized = *c;
    json_int_t blocks;
    if (!l->test->factor && l->facts.value[FACT_SIZE])
        units_parse_size(l->facts.value[FACT_SIZE], (uint64_t *)&sized.size_B);
    if (l->test->size_of_block)
        sized.size_B *= l->ranks;
    json_t *p = params(l, &sized);
    cell_id(id, l, p);
    sha256_hex(id, strlen(id), group);
    group[PLAN_ID - 1] = '\0'; /* no other cell shares its blocks */
    int code = record_line(r, cell_line(l, &sized, id, group, p));
    if (!code)
        code = put_blocks(r, c, id, &blocks);
    if (!code && c->kind)
        code = record_line(r, json_pack("{ss ss si ss so si ss ss}", "type", "fail", "cell", id,
                                        "copy", 0, "kind", c->kind, "why", json_text(c->why),
                                        "rank", -1, "host", "", "phase", "import"));
    return code ? code
                : record_line(r,
                              json_pack("{ss ss sI s[{ss si sI sb sn}]}", "type", "group", "group",
                                        group, "blocks", blocks, "cells", "cell", id, "copy", 0,
                                        "blocks", blocks, "converged", 0, "half_width"));
}

static int put_launch(struct record *r, const struct import_launch *l, const char *dir, int number)
{
    const struct imp_test *t = l->test;
    const char *const notes[][2] = {{"nccl", t->nccl},
                                    {"verified", t->unverified ? "no" : "yes"},
                                    {"missing", t->missing}};
    int code = record_line(r, header(l, dir, number));
    for (size_t i = 0; i < sizeof notes / sizeof *notes && !code; i++)
        code = note(r, notes[i][0], notes[i][1]);
    for (size_t i = 0; i < t->n_cells && !code; i++)
        code = put_cell(r, l, &t->cells[i]);
    if (!code)
        code = record_line(r, json_pack("{ss ss}", "type", "end", "status",
                                        *t->missing ? "interrupted" : "complete"));
    return code ? code : record_sync(r);
}

int import_launch_write(const struct import_launch *l, const char *dir, int number)
{
    struct record r;
    AUTO_FREE char *path = record_path(dir, number, 1, "jsonl");
    int code = record_create(&r, path);
    r.in_batches = true;
    if (!code) {
        code = put_launch(&r, l, dir, number);
        int closed = record_close(&r);
        code = code ? code : closed;
    }
    return code;
}
