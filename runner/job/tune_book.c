/* SPDX-License-Identifier: Apache-2.0 */
#include "job/tune_book.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/jsontext.h"
#include "base/sha256.h"
#include "base/version.h"
#include "plan/plan.h"
#include "record/provenance.h"
#include "record/raw.h"
#include "record/record_cells.h"
#include "record/record_end.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As plan.h makes ids: the group's is that of its cells without their config. */
static void id_of(char id[PLAN_ID], const struct tune_book *b, const char *label)
{
    char hex[65];
    AUTO_FREE char *text =
        xstrfmt("platform=%s\nworkload=" TUNE_WORKLOAD "\nranks=%lld\nnodes=%lld\n%s%s\n",
                b->platform, b->ranks, b->nodes, label ? "config=" : "", label ? label : "");
    sha256_hex(text, strlen(text), hex);
    snprintf(id, PLAN_ID, "%.*s", PLAN_ID - 1, hex);
}

/* The words themselves may hold a secret. */
static json_t *about(const struct tune_book *b)
{
    AUTO_TEXT struct text words = {0};
    char hex[65];
    for (char *const *w = b->command; *w; w++)
        text_addn(&words, *w, strlen(*w) + 1);
    sha256_hex(words.s, words.len, hex);
    return json_pack("{so ss ss ss}", "command", json_text(path_name(b->command[0])),
                     "command_sha256", hex, "stage", b->stage, "link", b->link);
}

static json_t *header(const struct tune_book *b, int attempt)
{
    char at[32];
    json_t *h = json_pack(
        "{ss si ss ss so so ss ss si si ss sI sI sI so}", "type", "header", "schema", RECORD_SCHEMA,
        "gradsync", GRADSYNC_VERSION, "commit", gradsync_commit, "run_id",
        json_text(path_name(b->dir)), "platform", json_text(b->platform), "workload", TUNE_WORKLOAD,
        "label", b->stage, "launch", b->launch, "attempt", attempt, "started",
        provenance_time(at, sizeof at), "seed", (json_int_t)b->seed, "ranks", (json_int_t)b->ranks,
        "nodes", (json_int_t)b->nodes, "env", provenance_env(environ));
    json_object_set_new(h, "clock",
                        json_pack("{ss sI}", "name", CLOCK_NAME, "step_ns",
                                  (json_int_t)clock_step_ns(clock_now_ns)));
    json_object_set_new(h, "hosts", json_pack("[o]", provenance_host(0)));
    json_object_set_new(h, "tune", about(b));
    return h;
}

int tune_book_begin(struct tune_book *b, int launch)
{
    int attempt = 1, code;
    b->launch = launch;
    b->record.fd = -1;
    b->n = 0;
    for (;; attempt++) {
        AUTO_FREE char *path = record_path(b->dir, launch, attempt, "jsonl");
        if (access(path, F_OK)) {
            code = record_create(&b->record, path);
            break;
        }
    }
    return code ? code : record_line(&b->record, header(b, attempt));
}

/* The label for people; the variables for those who set them. */
static json_t *params_of(const struct tune_setting *s)
{
    json_t *params = json_pack("{so}", "config", json_text(s->label));
    for (size_t i = 0; i < s->variables.n; i++) {
        AUTO_FREE char *name = xstrdup(s->variables.v[i]);
        char *value = strchr(name, '=');
        if (value)
            *value++ = '\0';
        json_object_set_new(params, name, json_text(value ? value : ""));
    }
    return params;
}

static json_t *cell_line(const struct tune_book *b, const struct tune_setting *s, int copy,
                         const char *id)
{
    char group[PLAN_ID];
    id_of(group, b, NULL);
    return json_pack("{ss ss ss si so ss so sI sf sb si s[] sb si}", "type", "cell", "cell", id,
                     "group", group, "copy", copy, "config", json_text(s->label), "mode", "",
                     "params", params_of(s), "size_B", (json_int_t)0, "busbw_factor", 0.0, "span",
                     0, "iters", 1, "metrics", "baseline", !strcmp(s->label, TUNE_BASELINE),
                     "prepared", (int)b->n + 1);
}

static int put_blocks(struct tune_book *b, const char *id, int copy, const struct tune_started *r)
{
    int code = GS_OK;
    for (size_t i = 0; i < r->n && !code; i++)
        code =
            record_block(&b->record,
                         json_pack("{ss ss si si sf sI}", "type", "block", "cell", id, "copy", copy,
                                   "block", (int)i + 1, "at", round(r->v[i].at * 1e3) / 1e3,
                                   "iters", (json_int_t)r->v[i].steps),
                         &r->v[i].ns, 1);
    return code;
}

/* On what it ran; once a launch. */
static int put_gpus(struct tune_book *b, const struct job_watch *watch)
{
    static const char *const keys[][2] = {
        {"name", "gpu"}, {"uuid", "uuid"}, {"driver", "driver"}, {"cuda_driver", "cuda_driver"}};
    AUTO_JSON json_t *gpus = job_watch_gpus(watch);
    const char *nccl = job_watch_nccl(watch);
    const json_t *gpu;
    size_t i;
    int code = nccl ? record_line(&b->record, record_note_line("", 0, "nccl", nccl)) : GS_OK;
    json_array_foreach(gpus, i, gpu) for (size_t k = 0; k < COUNT(keys) && !code; k++)
    {
        const char *value = json_text_of(gpu, keys[k][0]);
        if (*value)
            code = record_line(&b->record, record_note_line("", 0, keys[k][1], value));
    }
    return code;
}

/* The clocks of the GPUs and the other programs on them, while it ran. */
static int put_health(struct tune_book *b, const struct tune_started *r)
{
    char group[PLAN_ID];
    json_t *after = job_watch_health(r->watch);
    id_of(group, b, NULL);
    return after ? record_line(&b->record,
                               json_pack("{ss ss sI s{} so}", "type", "health", "group", group,
                                         "block", (json_int_t)r->n, "before", "after", after))
                 : GS_OK;
}

int tune_book_put(struct tune_book *b, const struct tune_setting *s, int copy,
                  const struct tune_started *r)
{
    char id[PLAN_ID];
    id_of(id, b, s->label);
    AUTO_FREE char *text = xstrfmt("%zu series of steps in %.1f s", r->n, r->took_s);
    int code = b->n ? GS_OK : put_gpus(b, r->watch);
    code = code ? code : record_line(&b->record, cell_line(b, s, copy, id));
    if (!code && r->kind)
        code = record_line(&b->record, record_fail_line(&(struct record_death){
                                           id, r->kind, r->why, "", "tune", copy, -1}));
    if (!code && !r->kind)
        code = put_blocks(b, id, copy, r);
    if (!code)
        code = record_line(&b->record, record_note_line(id, copy, "launched", text));
    if (!code)
        code = put_health(b, r);
    if (!code && r->memory_B > 0) {
        AUTO_FREE char *memory = xstrfmt("%.0f", r->memory_B);
        code = record_line(&b->record, record_note_line(id, copy, "memory_B", memory));
    }
    APPEND(b->cells, b->n) = (struct tune_cell){xstrdup(s->label), copy, r->kind ? 0 : r->n};
    return code ? code : record_sync(&b->record);
}

static json_t *group_line(const struct tune_book *b)
{
    json_t *cells = json_array();
    char id[PLAN_ID];
    size_t most = 0;
    for (size_t i = 0; i < b->n; i++) {
        const struct tune_cell *c = &b->cells[i];
        id_of(id, b, c->label);
        most = c->blocks > most ? c->blocks : most;
        if (c->blocks)
            json_array_append_new(cells, json_pack("{ss si sI sb sn}", "cell", id, "copy", c->copy,
                                                   "blocks", (json_int_t)c->blocks, "converged", 0,
                                                   "half_width"));
    }
    id_of(id, b, NULL);
    return json_pack("{ss ss sI so}", "type", "group", "group", id, "blocks", (json_int_t)most,
                     "cells", cells);
}

int tune_book_end(struct tune_book *b, bool complete)
{
    if (b->record.fd < 0)
        return GS_OK;
    int code = b->n ? record_line(&b->record, group_line(b)) : GS_OK;
    if (!code)
        code = record_line(&b->record, record_end_line(complete ? "complete" : "interrupted"));
    if (!code)
        code = record_sync(&b->record);
    int closed = record_close(&b->record);
    b->record.fd = -1;
    for (size_t i = 0; i < b->n; i++)
        free(b->cells[i].label);
    free(b->cells);
    b->cells = NULL;
    b->n = 0;
    return code ? code : closed;
}

/* ---- reading ---- */

struct reader {
    tune_book_take *take;
    void *ctx;
    int launch, copy;
    char *cell, *label;
    double *v;
    size_t n;
};

static void flush(struct reader *f, bool failed)
{
    if (f->label && (f->n || failed))
        f->take(f->ctx, f->launch, f->label, f->copy, f->v, f->n);
    free(f->v);
    f->v = NULL;
    f->n = 0;
}

static void take_line(struct reader *f, const struct raw_line *l)
{
    if (l->type == RAW_CELL) {
        flush(f, false);
        xstrset(&f->cell, json_text_of(l->json, "cell"));
        xstrset(&f->label, json_text_of(l->json, "config"));
        f->copy = (int)json_integer_of(l->json, "copy");
    } else if (l->type == RAW_FAIL) {
        flush(f, true);
    } else if (l->n) {
        int64_t iters = json_integer_of(l->json, "iters");
        APPEND(f->v, f->n) = (double)l->time_ns[0] * 1e-9 / (double)(iters > 0 ? iters : 1);
    }
}

int tune_book_read(const char *dir, tune_book_take *take, void *ctx)
{
    const unsigned want = 1u << RAW_CELL | 1u << RAW_BLOCK | 1u << RAW_FAIL;
    AUTO_WORDS struct words paths = {0};
    struct reader f = {.take = take, .ctx = ctx};
    int code = GS_OK, got = 0, attempt;
    record_list(dir, &paths);
    for (size_t i = 0; i < paths.n && !code; i++) {
        AUTO(raw_close_of) struct raw *raw = NULL;
        struct raw_line l;
        code = raw_open(&raw, paths.v[i]);
        record_parse_name(path_name(paths.v[i]), &f.launch, &attempt);
        while (!code && (got = raw_next(raw, want, &l)) == 1)
            take_line(&f, &l);
        flush(&f, false);
        code = code ? code : got < 0 ? GS_FAILED : GS_OK;
    }
    free(f.cell);
    free(f.label);
    return code;
}
