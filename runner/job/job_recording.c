/* SPDX-License-Identifier: Apache-2.0 */
#include "job/job_recording.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/jsontext.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/version.h"
#include "job/trial_ranks.h"
#include "plan/plan.h"
#include "record/provenance.h"
#include "record/raw.h"
#include "record/record.h"
#include "record/record_cells.h"
#include "record/record_end.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ==== trial_recording ==== */

#define WORKLOAD "trial"

/* ---- the header ---- */

/* The words themselves may hold a secret. */
static json_t *about(const struct trial_comm *c, const struct trial_source *s)
{
    AUTO_TEXT struct text words = {0};
    char hex[65];
    for (char **w = s->command; *w; w++)
        text_addn(&words, *w, strlen(*w) + 1);
    sha256_hex(words.s, words.len, hex);
    return json_pack("{so ss so sI sI sI sI sI so}", "command", json_text(path_name(s->command[0])),
                     "command_sha256", hex, "communicator", json_text(c->name), "abi",
                     (json_int_t)c->abi, "nccl", (json_int_t)c->nccl, "step_calls",
                     (json_int_t)c->step_calls, "step_B", (json_int_t)c->step_bytes, "dropped",
                     (json_int_t)c->dropped, "over", json_text(c->why));
}

/* A rank that did not tell its GPU has, here, one of those that the job uses. */
static json_t *rank_host(const struct trial_place *p, int rank, const struct trial_source *s,
                         const json_t *used)
{
    json_t *host = provenance_host(rank);
    json_t *other = json_array_get(used, (size_t)rank);
    if (*p->host && strcmp(p->host, json_text_of(host, "host"))) { /* only its name is known here */
        json_decref(host);
        host = json_pack("{si so}", "rank", rank, "host", json_text(p->host));
        other = NULL;
    }
    if (*p->gpu)
        json_object_set_new(host, "gpu", job_watch_gpu(s->job, p->gpu));
    else if (other)
        json_object_set(host, "gpu", other);
    return host;
}

static int by_rank(const void *a, const void *b)
{
    const struct trial_place *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static json_t *hosts(const struct trial_comm *c, const struct trial_source *s)
{
    json_t *all = json_array();
    AUTO_JSON json_t *used = job_watch_gpus(s->job);
    if (c->files)
        qsort(c->places, (size_t)c->files, sizeof *c->places, by_rank);
    for (int64_t i = 0; i < c->files; i++)
        json_array_append_new(all, rank_host(&c->places[i], (int)i, s, used));
    return all;
}

static json_t *header(const struct trial_comm *c, const struct trial_source *s)
{
    char at[32];
    json_t *h = json_pack(
        "{ss si ss ss so so ss ss si si ss sI sI sI ss so}", "type", "header", "schema",
        RECORD_SCHEMA, "gradsync", GRADSYNC_VERSION, "commit", gradsync_commit, "run_id",
        json_text(path_name(s->dir)), "platform", json_text(s->platform), "workload", WORKLOAD,
        "label", "", "launch", s->launch, "attempt", 1, "started", provenance_time(at, sizeof at),
        "seed", (json_int_t)s->seed, "ranks", (json_int_t)c->ranks, "nodes", (json_int_t)c->nodes,
        "plugin", "nccl_tuner 1", "env", provenance_env(environ));
    json_object_set_new(h, "clock",
                        json_pack("{ss sI}", "name", CLOCK_NAME, "step_ns",
                                  (json_int_t)clock_step_ns(clock_now_ns)));
    json_object_set_new(h, "hosts", hosts(c, s));
    json_object_set_new(h, "trial", about(c, s));
    return h;
}

/* ---- cells ---- */

struct arm {
    char id[PLAN_ID];
    const char *label;
    int64_t copy;
    bool counts; /* its blocks are recorded */
};

static void hash_id(char id[PLAN_ID], const char *text)
{
    char hex[65];
    sha256_hex(text, strlen(text), hex);
    snprintf(id, PLAN_ID, "%.*s", PLAN_ID - 1, hex);
}

/* As plan.h makes ids: the group's is that of its cells without their config. */
static void ids_of(char id[PLAN_ID], const struct trial_comm *c, const struct trial_source *s,
                   const char *label)
{
    AUTO_FREE char *text = xstrfmt(
        "platform=%s\nworkload=" WORKLOAD "\nranks=%lld\nnodes=%lld\n%s%s%s"
        "step_calls=%lld\nstep_size=%lld\n",
        s->platform, (long long)c->ranks, (long long)c->nodes, label ? "config=" : "",
        label ? label : "", label ? "\n" : "", (long long)c->step_calls, (long long)c->step_bytes);
    hash_id(id, text);
}

static bool is_of(const struct trial_visit *v, const struct arm *a)
{
    return !strcmp(v->arm, a->label) && v->copy == a->copy;
}

/* Each arm and copy, in the order of their first visits. */
static size_t find_arms(struct arm **out, const struct trial_comm *c, const struct trial_source *s)
{
    struct arm *v = xcalloc(c->n + 1, sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        size_t k = 0;
        while (k < n && !is_of(&c->visits[i], &v[k]))
            k++;
        if (k < n)
            continue;
        struct trial_taken t = trial_taken(c, c->visits[i].arm, c->visits[i].copy);
        v[n] = (struct arm){
            .label = c->visits[i].arm, .copy = c->visits[i].copy, .counts = trial_taken_counts(&t)};
        ids_of(v[n].id, c, s, v[n].label);
        n++;
    }
    *out = v;
    return n;
}

static json_t *note(const struct arm *a, const char *key, const char *value)
{
    return json_pack("{ss ss sI ss so}", "type", "note", "cell", a->id, "copy", (json_int_t)a->copy,
                     "key", key, "value", json_text(value));
}

/* NCCL numbers 2.8 and older ones in another way. Where its library hides the version, the job's
 * processes may tell. */
static int put_nccl(struct record *r, const struct trial_comm *c, const struct trial_source *s)
{
    char number[64];
    const char *seen = job_watch_nccl(s->job);
    int64_t major = c->nccl < 10000 ? 1000 : 10000;
    snprintf(number, sizeof number, "%lld.%lld.%lld", (long long)(c->nccl / major),
             (long long)(c->nccl % major / 100), (long long)(c->nccl % 100));
    if (c->nccl <= 0 && !seen)
        return GS_OK;
    return record_line(r,
                       json_pack("{ss ss si ss so}", "type", "note", "cell", "", "copy", 0, "key",
                                 "nccl", "value", json_text(c->nccl > 0 ? number : seen)));
}

/* What a cell requested, and what ran. */
static int put_notes(struct record *r, const struct trial_comm *c, const struct arm *a,
                     const struct trial_taken *t)
{
    AUTO_FREE char *expected = trial_taken_shares(c, a->label, a->copy, true);
    AUTO_FREE char *ran = trial_taken_shares(c, a->label, a->copy, false);
    int code = record_line(r, note(a, "chosen", expected));
    if (!code)
        code = record_line(
            r, note(a, "ran", *ran ? ran : "unproven: this NCCL does not report what it ran"));
    return code ? code : record_line(r, note(a, "request", t->text));
}

static int put_cell(struct record *r, const struct trial_comm *c, const struct arm *a,
                    const char *group)
{
    struct trial_taken t = trial_taken(c, a->label, a->copy);
    int code =
        record_line(r, json_pack("{ss ss ss sI so ss s{sI sI} sI sf sb si s[] sb}", "type", "cell",
                                 "cell", a->id, "group", group, "copy", (json_int_t)a->copy,
                                 "config", json_text(a->label), "mode", "", "params", "step_calls",
                                 (json_int_t)c->step_calls, "step_size", (json_int_t)c->step_bytes,
                                 "size_B", (json_int_t)c->step_bytes, "busbw_factor", 0.0, "span",
                                 0, "iters", 1, "metrics", "baseline", !strcmp(a->label, "auto")));
    if (!code)
        code = put_notes(r, c, a, &t);
    if (!code && !trial_taken_counts(&t))
        code =
            record_line(r, json_pack("{ss ss sI ss so si ss ss}", "type", "fail", "cell", a->id,
                                     "copy", (json_int_t)a->copy, "kind", "skip", "why",
                                     json_text(t.text), "rank", -1, "host", "", "phase", "trial"));
    return code;
}

/* ---- blocks ---- */

static int put_visit(struct record *r, const struct trial_visit *v, const char *id)
{
    return record_block(r,
                        json_pack("{ss ss sI sI sf sI sI sI}", "type", "block", "cell", id, "copy",
                                  (json_int_t)v->copy, "block", (json_int_t)v->block + 1, "at",
                                  round(v->at * 1e3) / 1e3, "iters", (json_int_t)v->steps - 1,
                                  "skew_ns", (json_int_t)0, "spread_ns",
                                  (json_int_t)(v->most_ns - v->least_ns)),
                        &v->most_ns, 1);
}

static int put_visits(struct record *r, const struct trial_comm *c, const struct arm *arms,
                      size_t n)
{
    int code = GS_OK;
    for (size_t i = 0; i < c->n && !code; i++)
        for (size_t k = 0; k < n && !code; k++)
            if (is_of(&c->visits[i], &arms[k]) && arms[k].counts)
                code = put_visit(r, &c->visits[i], arms[k].id);
    return code;
}

/* The clocks of the GPUs and the other programs on them, during the launch. */
static int put_health(struct record *r, const struct trial_source *s, const char *group)
{
    json_t *after = job_watch_health(s->job);
    return after ? record_line(r, json_pack("{ss ss si s{} so}", "type", "health", "group", group,
                                            "block", 1, "before", "after", after))
                 : GS_OK;
}

static json_t *closing(const struct trial_comm *c, const struct arm *arms, size_t n,
                       const char *group)
{
    json_t *cells = json_array();
    int64_t most = 0;
    for (size_t k = 0; k < n; k++) {
        int64_t blocks = 0;
        for (size_t i = 0; i < c->n; i++)
            blocks += is_of(&c->visits[i], &arms[k]) && arms[k].counts;
        most = blocks > most ? blocks : most;
        json_array_append_new(cells, json_pack("{ss sI sI sb sn}", "cell", arms[k].id, "copy",
                                               (json_int_t)arms[k].copy, "blocks",
                                               (json_int_t)blocks, "converged", 0, "half_width"));
    }
    return json_pack("{ss ss sI so}", "type", "group", "group", group, "blocks", (json_int_t)most,
                     "cells", cells);
}

int trial_recording_write(const struct trial_comm *c, const struct trial_source *s)
{
    char group[PLAN_ID];
    struct record r;
    struct arm *arms;
    AUTO_FREE char *path = record_path(s->dir, s->launch, 1, "jsonl");
    int code = record_create(&r, path);
    if (code)
        return code;
    ids_of(group, c, s, NULL);
    size_t n = find_arms(&arms, c, s);
    code = record_line(&r, header(c, s));
    code = code ? code : put_nccl(&r, c, s);
    for (size_t i = 0; i < n && !code; i++)
        code = put_cell(&r, c, &arms[i], group);
    if (!code)
        code = put_visits(&r, c, arms, n);
    if (!code)
        code = put_health(&r, s, group);
    if (!code)
        code = record_line(&r, closing(c, arms, n, group));
    if (!code)
        code = record_line(&r, json_pack("{ss ss}", "type", "end", "status",
                                         s->complete ? "complete" : "interrupted"));
    if (!code)
        code = record_sync(&r);
    int closed = record_close(&r);
    free(arms);
    return code ? code : closed;
}

/* ==== tune_book ==== */

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
static json_t *book_about(const struct tune_book *b)
{
    AUTO_TEXT struct text words = {0};
    char hex[65];
    for (char *const *w = b->command; *w; w++)
        text_addn(&words, *w, strlen(*w) + 1);
    sha256_hex(words.s, words.len, hex);
    return json_pack("{so ss ss ss}", "command", json_text(path_name(b->command[0])),
                     "command_sha256", hex, "stage", b->stage, "link", b->link);
}

static json_t *book_header(const struct tune_book *b, int attempt)
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
    json_object_set_new(h, "tune", book_about(b));
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
    return code ? code : record_line(&b->record, book_header(b, attempt));
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
static int book_put_health(struct tune_book *b, const struct tune_started *r)
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
        code = book_put_health(b, r);
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
