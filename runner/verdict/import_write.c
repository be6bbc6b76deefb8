/* SPDX-License-Identifier: Apache-2.0 */
#include "import_write.h"

#include "../csv.h"
#include "../err.h"
#include "../jsontext.h"
#include "../manifest.h"
#include "../plan.h"
#include "../provenance.h"
#include "../record.h"
#include "../text.h"
#include "../units.h"
#include "../version.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL "imported"

/* A test with all that is to be written of it. */
struct launch {
    const struct import *imp;
    const struct imp_test *test;
    struct facts facts;
    char *config, *platform;
    char *key;       /* equal for launches of one run */
    char *cells_key; /* the cells that it has */
    int64_t ranks, nodes;
    size_t file;
    bool written;
};

/* ---- what is known ---- */

/* A fact that is a count: the user's, the file's, or `otherwise`; 0: reported. */
static int64_t count_of(const struct launch *l, enum fact fact, int64_t said, int64_t otherwise)
{
    int64_t given = 0;
    if (l->facts.value[fact])
        units_parse_int(l->facts.value[fact], &given);
    if (given && said && given != said) {
        fail_at(GS_USAGE, l->imp->path, 0, "%s=%lld was given, and the file says %lld",
                fact_names[fact], (long long)given, (long long)said);
        return 0;
    }
    int64_t v = given ? given : said ? said : otherwise;
    if (!v)
        fail_at(GS_USAGE, l->imp->path, 0, "%s does not say how many %s: --set %s=N",
                l->imp->format, fact_names[fact], fact_names[fact]);
    return v;
}

/* "NVIDIA L40S" twice: "l40s-2gpu"; NULL: the file does not name its devices. */
static char *platform_of(const struct imp_test *t)
{
    const char *device = json_string_value(json_object_get(json_array_get(t->hosts, 0), "device"));
    if (!device || !*device)
        return NULL;
    device += strncmp(device, "NVIDIA ", 7) ? 0 : 7;
    char *name = xstrfmt("%.48s-%lldgpu", device, (long long)t->ranks);
    for (char *c = name; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
    return name;
}

static char *key_of(const struct launch *l)
{
    struct text t = {0};
    text_addf(&t, "%s\n%s\n%lld\n%lld\n%s\n%s", l->platform, l->test->workload, (long long)l->ranks,
              (long long)l->nodes, l->config, l->test->metric);
    for (size_t i = FACT_CONTENTION; i < FACT_REPLICATE; i++)
        text_addf(&t, "\n%s", l->facts.value[i] ? l->facts.value[i] : "");
    return t.s;
}

static char *cells_key_of(const struct imp_test *t)
{
    struct text s = {0};
    text_addf(&s, "%d", t->graph);
    for (size_t i = 0; i < t->n_cells; i++) {
        const struct imp_cell *c = &t->cells[i];
        text_addf(&s, "\n%lld %s %s %lld %d %llu", (long long)c->size_B, c->dtype, c->op,
                  (long long)c->root, c->in_place, (unsigned long long)c->iters);
    }
    char hex[65];
    sha256_hex(s.s, s.len, hex);
    text_free(&s);
    return xstrdup(hex);
}

static int know(struct launch *l, const struct imported *file, size_t index, size_t test)
{
    *l = (struct launch){.imp = file->imp, .test = &file->imp->tests[test], .file = index};
    facts_copy(&l->facts, &file->facts);
    int code = facts_config(&l->facts, l->test, l->imp->path, &l->config);
    if (code)
        return code;
    l->ranks = count_of(l, FACT_RANKS, l->test->ranks, 0);
    l->nodes = count_of(l, FACT_NODES, l->test->nodes, 1);
    if (!l->ranks || !l->nodes)
        return GS_USAGE;
    if (l->ranks == 1 && l->test->factor == IMP_ALLREDUCE)
        return fail_at(GS_USAGE, l->imp->path, 0,
                       "refused: an all-reduce of one rank is a copy, not a collective");
    const char *given = l->facts.value[FACT_PLATFORM];
    l->platform = given ? xstrdup(given) : platform_of(l->test);
    if (!l->platform)
        return fail_at(GS_USAGE, l->imp->path, 0,
                       "%s does not say where it was measured: --platform NAME", l->imp->format);
    l->key = key_of(l);
    l->cells_key = cells_key_of(l->test);
    return GS_OK;
}

static void forget(struct launch *l)
{
    facts_free(&l->facts);
    free(l->config);
    free(l->platform);
    free(l->key);
    free(l->cells_key);
}

/* ---- lines ---- */

static void put(struct csv *c, json_t *o)
{
    char *line = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(16));
    csv_bytes(c, line, strlen(line));
    csv_bytes(c, "\n", 1);
    free(line);
    json_decref(o);
}

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static json_t *header(const struct launch *l, const char *dir, int number)
{
    char at[32];
    const struct imp_test *t = l->test;
    char word[17];
    snprintf(word, sizeof word, "%.15s", l->imp->sha256);
    json_t *h =
        json_pack("{ss si ss ss so so ss ss si si so sI}", "type", "header", "schema",
                  RECORD_SCHEMA, "gradsync", GRADSYNC_VERSION, "commit", gradsync_commit, "run_id",
                  json_text(base(dir)), "platform", json_text(l->platform), "workload", t->workload,
                  "label", LABEL, "launch", number, "attempt", 1, "started", json_text(t->started),
                  "seed", (json_int_t)strtoull(word, NULL, 16));
    json_object_set_new(h, "ranks", json_integer(l->ranks));
    json_object_set_new(h, "nodes", json_integer(l->nodes));
    json_object_set_new(h, "plugin", json_text(*t->tool ? t->tool : l->imp->format));
    json_object_set_new(h, "imported",
                        json_pack("{so ss ss so sI ss}", "path", json_text(l->imp->name), "sha256",
                                  l->imp->sha256, "format", l->imp->format, "version",
                                  json_text(t->tool), "line", (json_int_t)t->line, "at",
                                  provenance_time(at, sizeof at)));
    if (t->hosts)
        json_object_set(h, "hosts", t->hosts);
    return h;
}

static void note(struct csv *c, const char *key, const char *value)
{
    if (*value)
        put(c, json_pack("{ss ss si ss so}", "type", "note", "cell", "", "copy", 0, "key", key,
                         "value", json_text(value)));
}

/* What is known of the cell, named as the plugins name it. */
static json_t *params(const struct launch *l, const struct imp_cell *c)
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

/* As plan.h makes ids: of the coordinates and the sorted parameters. */
static void cell_id(char id[PLAN_ID], const struct launch *l, json_t *params_of_it)
{
    char *lines[32], hex[65];
    const char *key;
    json_t *v;
    size_t n = 0;
    struct text t = {0};
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
    text_free(&t);
}

static char *put_digits(char *end, uint64_t v)
{
    do
        *--end = (char)('0' + v % 10);
    while (v /= 10);
    return end;
}

/* A line a sample, of which a table may have millions: no JSON is built for them. */
static void put_blocks(struct csv *csv, const struct imp_cell *c, const char *id)
{
    char digits[24], *end = digits + sizeof digits;
    char *head = xstrfmt("{\"type\":\"block\",\"cell\":\"%s\",\"copy\":0,\"block\":", id);
    char *middle = xstrfmt(",\"iters\":%llu,\"time_ns\":[", (unsigned long long)c->iters);
    size_t head_n = strlen(head), middle_n = strlen(middle);
    for (size_t i = 0; i < c->n; i++) {
        csv_bytes(csv, head, head_n);
        char *at = put_digits(end, i + 1);
        csv_bytes(csv, at, (size_t)(end - at));
        csv_bytes(csv, middle, middle_n);
        at = put_digits(end, c->time_ns[i]);
        csv_bytes(csv, at, (size_t)(end - at));
        csv_bytes(csv, "]}\n", 3);
    }
    free(middle);
    free(head);
}

static void put_cell(struct csv *csv, const struct launch *l, const struct imp_cell *c)
{
    char id[PLAN_ID], group[65];
    int64_t size = c->size_B;
    if (!l->test->factor && l->facts.value[FACT_SIZE])
        units_parse_size(l->facts.value[FACT_SIZE], (uint64_t *)&size);
    struct imp_cell sized = *c;
    sized.size_B = size;
    json_t *p = params(l, &sized);
    cell_id(id, l, p);
    sha256_hex(id, strlen(id), group);
    group[PLAN_ID - 1] = '\0'; /* nothing else was measured in the same blocks */
    const char *mode = l->facts.value[FACT_MODE];
    put(csv, json_pack("{ss ss ss si so so so sI sf sb sI s[] sb}", "type", "cell", "cell", id,
                       "group", group, "copy", 0, "config", json_text(l->config), "mode",
                       json_text(mode ? mode : ""), "params", p, "size_B", (json_int_t)size,
                       "busbw_factor", import_factor(l->test->factor, l->ranks), "span", 0, "iters",
                       (json_int_t)c->iters, "metrics", "baseline", 0));
    put_blocks(csv, c, id);
    if (c->kind)
        put(csv, json_pack("{ss ss si ss so si ss ss}", "type", "fail", "cell", id, "copy", 0,
                           "kind", c->kind, "why", json_text(c->why), "rank", -1, "host", "",
                           "phase", "import"));
    put(csv, json_pack("{ss ss sI s[{ss si sI sb sn}]}", "type", "group", "group", group, "blocks",
                       (json_int_t)c->n, "cells", "cell", id, "copy", 0, "blocks", (json_int_t)c->n,
                       "converged", 0, "half_width"));
}

static int write_launch(const struct launch *l, const char *dir, int number)
{
    char name[64];
    struct csv csv;
    const struct imp_test *t = l->test;
    char *path = xstrfmt("%s/%s", dir, record_name(name, sizeof name, number, 1, "jsonl"));
    int code = csv_open(&csv, path);
    if (!code) {
        put(&csv, header(l, dir, number));
        note(&csv, "nccl", t->nccl);
        note(&csv, "verified", t->unverified ? "no" : "yes");
        note(&csv, "missing", t->missing);
        note(&csv, "replicate",
             l->facts.value[FACT_REPLICATE] ? l->facts.value[FACT_REPLICATE] : "");
        for (size_t i = 0; i < t->n_cells; i++)
            put_cell(&csv, l, &t->cells[i]);
        put(&csv, json_pack("{ss ss}", "type", "end", "status",
                            *t->missing ? "interrupted" : "complete"));
        code = csv_close(&csv, true);
    }
    free(path);
    return code;
}

/* ---- runs ---- */

/* A launch that broke off has some of the cells of the others. */
static bool of_one_run(const struct launch *a, const struct launch *b, bool as_launches)
{
    return !b->written && (a->file == b->file || as_launches) && !strcmp(a->key, b->key) &&
           (*a->test->missing || *b->test->missing || !strcmp(a->cells_key, b->cells_key));
}

static void tell(const struct launch *l, int number)
{
    size_t samples = 0, faults = 0;
    for (size_t i = 0; i < l->test->n_cells; i++) {
        samples += l->test->cells[i].n;
        faults += l->test->cells[i].kind != NULL;
    }
    say("  launch %d: %s, %zu cells, %zu samples, config %s%s%s%s", number, l->imp->name,
        l->test->n_cells, samples, l->config, l->test->unverified ? ", results not verified" : "",
        *l->test->missing ? "; truncated: " : "", l->test->missing);
    if (faults)
        say("  %zu cells are kept with what is wrong with them", faults);
}

static int write_run(struct launch *all, size_t n, size_t first, const char *out, bool as_launches)
{
    char *dir;
    int number = 0;
    struct launch *lead = &all[first];
    int code = record_make_run(out, lead->platform, lead->test->workload, LABEL, &dir);
    if (code)
        return code;
    for (size_t i = first; i < n && !code; i++)
        if (of_one_run(lead, &all[i], as_launches)) {
            code = write_launch(&all[i], dir, ++number);
            all[i].written = true;
            if (!code)
                tell(&all[i], number);
        }
    if (!code)
        code = manifest_write(dir);
    if (!code)
        printf("%s\n", dir);
    fflush(stdout);
    free(dir);
    return code;
}

int import_write(struct imported *files, size_t n, const char *out, bool as_launches)
{
    struct launch *all = NULL;
    size_t count = 0;
    int code = GS_OK;
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < files[i].imp->n_tests; t++) {
            all = xrealloc(all, (count + 1) * sizeof *all);
            int one = know(&all[count++], &files[i], i, t);
            code = code ? code : one;
        }
    for (size_t i = 0; i < count && !code; i++)
        if (!all[i].written)
            code = write_run(all, count, i, out, as_launches);
    for (size_t i = 0; i < count; i++)
        forget(&all[i]);
    free(all);
    return code;
}
