/* SPDX-License-Identifier: Apache-2.0 */
#include "job/job_recording.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/secrets.h"
#include "base/shell.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/version.h"
#include "plan/plan.h"
#include "record/manifest.h"
#include "record/raw.h"
#include "record/record.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int job_recording_folder(const char *platform, const char *out)
{
    if (!printable_name(platform))
        return fail(GS_USAGE, "tune: --platform '%s' is not a name (" PRINTABLE_NAME_RULE ")",
                    platform);
    AUTO_FREE char *slashed = xstrfmt("%s/", out), *above = realpath(".", NULL);
    const char *bad = !printable(out, "")                             ? out
                      : *out != '/' && above && !printable(above, "") ? above
                                                                      : NULL;
    if (bad)
        return fail(GS_USAGE,
                    "tune: the folder of recordings '%s': its path has a line feed or another "
                    "character that cannot be printed: choose another with -o",
                    bad);
    AUTO_FREE char *failed = files_make_above(slashed);
    return failed ? fail_file(failed, "made", errno) : GS_OK;
}

/* ---- lines of any recording of a job ---- */

struct job_cell {
    char id[PLAN_ID];
    char *label;
    int64_t copy;
    size_t blocks;
    bool left_out; /* collectives */
};

/* As plan.h makes ids: the group's is that of its cells without their config (label NULL). c: the
 * step, which a trial knows. */
static void id_of(char id[PLAN_ID], const struct job_source *s, const struct visits *c,
                  const char *label)
{
    char hex[65];
    AUTO_TEXT struct text t = {0};
    text_addf(&t, "platform=%s\nworkload=%s\nranks=%lld\nnodes=%lld\n", s->platform,
              c ? JOB_TRIAL : JOB_TUNE, s->ranks, s->nodes);
    if (label)
        text_addf(&t, "config=%s\n", label);
    if (c)
        text_addf(&t, "step_calls=%lld\nstep_size=%lld\n", (long long)c->step_calls,
                  (long long)c->step_B);
    sha256_hex(t.s, t.len, hex);
    snprintf(id, PLAN_ID, "%.*s", PLAN_ID - 1, hex);
}

static json_t *command_of(const struct job_source *s)
{
    AUTO_TEXT struct text words = {0}, line = {0};
    AUTO_WORDS struct words shown = {0};
    char hex[65];
    secrets_hidden_words(&shown, s->command);
    for (size_t i = 0; i < shown.n; i++)
        text_addf(&line, "%s%s", i ? " " : "", SHELL_WORD(shown.v[i]));
    for (char *const *w = s->command; *w; w++)
        text_addn(&words, *w, strlen(*w) + 1);
    sha256_hex(words.s, words.len, hex);
    return json_pack("{so so ss}", "command", json_text(path_name(s->command[0])), "line",
                     json_text(line.s), "command_sha256", hex);
}

static json_t *header(const struct job_source *s, const char *workload, const char *label,
                      int attempt, json_t *hosts)
{
    char at[32];
    return json_pack("{ss si ss ss so so ss ss si si ss sI sI sI so s{ss sI} so}", "type", "header",
                     "schema", RECORD_SCHEMA, "gradsync", GRADSYNC_VERSION, "commit",
                     gradsync_commit, "run_id", json_text(path_name(s->dir)), "platform",
                     json_text(s->platform), "workload", workload, "label", label, "launch",
                     s->launch, "attempt", attempt, "started", record_time(at, sizeof at), "seed",
                     (json_int_t)s->seed, "ranks", (json_int_t)s->ranks, "nodes",
                     (json_int_t)s->nodes, "env", record_env(environ), "clock", "name", CLOCK_NAME,
                     "step_ns", (json_int_t)clock_step_ns(clock_now_ns), "hosts", hosts);
}

static json_t *cell_line(const struct job_cell *cell, const char *group, json_t *params,
                         int64_t size_B)
{
    return json_pack("{ss ss ss sI so ss so sI sf sb si s[] sb}", "type", "cell", "cell", cell->id,
                     "group", group, "copy", (json_int_t)cell->copy, "config",
                     json_text(cell->label), "mode", "", "params", params, "size_B",
                     (json_int_t)size_B, "busbw_factor", 0.0, "span", 0, "iters", 1, "metrics",
                     "baseline", !strcmp(cell->label, TUNE_BASELINE));
}

/* The last lines: the group, and the end. */
static int put_end(struct record *r, const char *group, const struct job_cell *cells, size_t n,
                   bool complete)
{
    json_t *all = json_array();
    size_t most = 0;
    int code = GS_OK;
    for (size_t i = 0; i < n; i++) {
        most = cells[i].blocks > most ? cells[i].blocks : most;
        json_array_append_new(all,
                              json_pack("{ss sI sI sb sn}", "cell", cells[i].id, "copy",
                                        (json_int_t)cells[i].copy, "blocks",
                                        (json_int_t)cells[i].blocks, "converged", 0, "half_width"));
    }
    json_t *line = json_pack("{ss ss sI so}", "type", "group", "group", group, "blocks",
                             (json_int_t)most, "cells", all);
    if (n)
        code = record_line(r, line);
    else
        json_decref(line);
    return code ? code : record_end(r, complete ? "complete" : "interrupted");
}

static int put_note(struct record *r, const char *cell, int64_t copy, const char *key,
                    const char *value)
{
    return value && *value ? record_line(r, record_note_line(cell, (int)copy, key, value)) : GS_OK;
}

/* NCCL numbers 2.8 and older ones in another way. */
static int put_nccl(struct record *r, int64_t nccl)
{
    int64_t major = nccl < 10000 ? 1000 : 10000;
    AUTO_FREE char *number = nccl > 0
                                 ? xstrfmt("%lld.%lld.%lld", (long long)(nccl / major),
                                           (long long)(nccl % major / 100), (long long)(nccl % 100))
                                 : NULL;
    return put_note(r, "", 0, "nccl", number);
}

static int put_machine(struct record *r, const struct launched *l)
{
    static const char *const keys[][2] = {
        {"name", "gpu"}, {"uuid", "uuid"}, {"driver", "driver"}, {"cuda_driver", "cuda_driver"}};
    AUTO_JSON json_t *gpus = job_watch_gpus(l->watch);
    const json_t *gpu;
    size_t i;
    int code = put_nccl(r, l->nccl);
    json_array_foreach(gpus, i, gpu) for (size_t k = 0; k < COUNT(keys) && !code; k++)
    {
        code = put_note(r, "", 0, keys[k][1], json_text_of(gpu, keys[k][0]));
    }
    return code;
}

static int put_health(struct record *r, const struct job_watch *watch, const char *group,
                      size_t block)
{
    json_t *after = job_watch_health(watch);
    return after ? record_line(r, json_pack("{ss ss sI s{} so}", "type", "health", "group", group,
                                            "block", (json_int_t)block, "before", "after", after))
                 : GS_OK;
}

/* ---- a trial ---- */

/* A rank that did not tell its GPU has, here, one of those that the job uses. */
static json_t *rank_host(const struct journal_place *p, int rank, const struct job_watch *watch,
                         const json_t *used)
{
    json_t *host = record_host(rank);
    json_t *other = json_array_get(used, (size_t)rank);
    if (*p->host && strcmp(p->host, json_text_of(host, "host"))) { /* only its name is known here */
        json_decref(host);
        host = json_pack("{si so}", "rank", rank, "host", json_text(p->host));
        other = NULL;
    }
    if (*p->gpu)
        json_object_set_new(host, "gpu", job_watch_gpu(watch, p->gpu));
    else if (other)
        json_object_set(host, "gpu", other);
    return host;
}

static int by_rank(const void *a, const void *b)
{
    const struct journal_place *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static json_t *trial_header(const struct journals *j, const struct job_source *s,
                            const struct job_watch *watch)
{
    json_t *hosts = json_array(), *about = command_of(s);
    AUTO_JSON json_t *used = job_watch_gpus(watch);
    AUTO_FREE struct journal_place *places = xcalloc((size_t)j->files + 1, sizeof *places);
    memcpy(places, j->places, (size_t)j->files * sizeof *places);
    qsort(places, (size_t)j->files, sizeof *places, by_rank);
    for (int64_t i = 0; i < j->files; i++)
        json_array_append_new(hosts, rank_host(&places[i], (int)i, watch, used));
    json_t *h = header(s, JOB_TRIAL, "", 1, hosts);
    json_object_set_new(h, "plugin", json_string("engine 1"));
    json_object_update_new(
        about, json_pack("{so sI sI sI sI sI so}", "communicator", json_text(j->name), "nccl",
                         (json_int_t)j->nccl, "step_calls", (json_int_t)j->visits.step_calls,
                         "step_B", (json_int_t)j->visits.step_B, "other_B", (json_int_t)j->other_B,
                         "dropped", (json_int_t)j->dropped, "over", json_text(j->why)));
    if (s->periods > 0)
        json_object_set_new(about, "periods", json_real(s->periods));
    json_object_set_new(h, "trial", about);
    return h;
}

static bool is_of(const struct visit *v, const struct job_cell *a)
{
    return !strcmp(v->arm, a->label) && v->copy == a->copy;
}

/* Each arm and copy, in the order of their first visits. */
static size_t find_arms(struct job_cell **out, const struct visits *all, const struct job_source *s)
{
    struct job_cell *v = xcalloc(all->n + 1, sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct visit *visit = &all->v[i];
        size_t k = 0;
        while (k < n && !is_of(visit, &v[k]))
            k++;
        if (k == n) {
            v[n] = (struct job_cell){.label = visit->arm, .copy = visit->copy};
            id_of(v[n++].id, s, all, visit->arm);
        }
        v[k].blocks++;
        v[k].left_out = v[k].left_out || visit->left_out;
    }
    *out = v;
    return n;
}

static int put_arm(struct record *r, const struct visits *all, const struct job_cell *a,
                   const char *group)
{
    json_t *params = json_pack("{sI sI}", "step_calls", (json_int_t)all->step_calls, "step_size",
                               (json_int_t)all->step_B);
    CHECK(record_line(r, cell_line(a, group, params, all->step_B)));
    return a->left_out ? put_note(r, a->id, a->copy, "ran", "none") : GS_OK;
}

static int put_visit(struct record *r, const struct visit *v, const char *id, int64_t ranks)
{
    json_t *line = json_pack("{ss ss sI sI sf sI sI sI}", "type", "block", "cell", id, "copy",
                             (json_int_t)v->copy, "block", (json_int_t)v->block + 1, "at",
                             round(v->at * 1e3) / 1e3, "iters", (json_int_t)v->steps - 1, "skew_ns",
                             (json_int_t)0, "spread_ns", (json_int_t)(v->most_ns - v->least_ns));
    json_t *each = json_array();
    for (int64_t i = 0; i < ranks; i++)
        json_array_append_new(each, json_integer((json_int_t)v->rank_ns[i]));
    json_object_set_new(line, "rank_ns", each);
    return record_block(r, line, &v->most_ns, 1);
}

int job_recording_trial(const struct journals *j, const struct job_source *s,
                        const struct job_watch *watch, bool complete)
{
    char group[PLAN_ID];
    struct record r;
    const struct visits *all = &j->visits;
    AUTO_FREE struct job_cell *arms = NULL;
    AUTO_FREE char *path = record_path(s->dir, s->launch, 1, "jsonl");
    CHECK(record_create(&r, path));
    id_of(group, s, all, NULL);
    size_t n = find_arms(&arms, all, s);
    int code = record_line(&r, trial_header(j, s, watch));
    TRY(code, put_nccl(&r, j->nccl));
    for (size_t k = 0; k < n; k++)
        TRY(code, put_arm(&r, all, &arms[k], group));
    for (size_t i = 0; i < all->n; i++)
        for (size_t k = 0; k < n && !code; k++)
            if (is_of(&all->v[i], &arms[k]))
                code = put_visit(&r, &all->v[i], arms[k].id, all->ranks);
    TRY(code, put_health(&r, watch, group, 1));
    TRY(code, put_end(&r, group, arms, n, complete));
    int closed = record_close(&r);
    return code ? code : closed;
}

/* ---- a race or a proof ---- */

int job_recording_begin(struct job_recording *b)
{
    int attempt = 1, code;
    AUTO_FREE char *path = NULL;
    while (free(path), path = record_path(b->of.dir, b->of.launch, attempt, "jsonl"),
           !access(path, F_OK))
        attempt++;
    b->record.fd = -1;
    b->n = 0;
    if ((code = record_create(&b->record, path)))
        return code;
    json_t *h = header(&b->of, JOB_TUNE, b->stage, attempt, json_pack("[o]", record_host(0)));
    json_t *about = command_of(&b->of);
    json_object_update_new(about, json_pack("{ss ss}", "stage", b->stage, "link", b->link));
    json_object_set_new(h, "tune", about);
    return record_line(&b->record, h);
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
        AUTO_FREE char *shown = label_from(value ? value : "");
        json_object_set_new(params, name, json_text(shown));
    }
    return params;
}

/* The first cell of a launch comes with what it ran on. */
static int put_cell(struct job_recording *b, const struct tune_setting *s,
                    const struct job_cell *cell, const char *group, const struct launched *r)
{
    AUTO_FREE char *text = xstrfmt("%zu series of steps in %.1f s", r->n, r->took_s);
    AUTO_FREE char *memory = r->memory_B > 0 ? xstrfmt("%.0f", r->memory_B) : NULL;
    json_t *line = cell_line(cell, group, params_of(s), 0);
    json_object_set_new(line, "prepared", json_integer((json_int_t)b->n));
    int code = b->n > 1 ? GS_OK : put_machine(&b->record, r);
    int put = record_line(&b->record, line);
    code = code ? code : put;
    if (!code && r->kind)
        code = record_line(&b->record,
                           raw_fail_line(&(struct raw_death){cell->id, r->kind, r->why, "", "tune",
                                                             (int)cell->copy, -1}));
    for (size_t i = 0; i < cell->blocks && !code; i++)
        code = record_block(&b->record,
                            json_pack("{ss ss sI si sf sI}", "type", "block", "cell", cell->id,
                                      "copy", (json_int_t)cell->copy, "block", (int)i + 1, "at",
                                      round(r->v[i].at * 1e3) / 1e3, "iters",
                                      (json_int_t)r->v[i].steps),
                            &r->v[i].ns, 1);
    code = code ? code : put_note(&b->record, cell->id, cell->copy, "launched", text);
    code = code ? code : put_health(&b->record, r->watch, group, r->n);
    return code ? code : put_note(&b->record, cell->id, cell->copy, "memory_B", memory);
}

int job_recording_put(struct job_recording *b, const struct tune_setting *s, int copy,
                      const struct launched *r)
{
    char group[PLAN_ID];
    struct job_cell cell = {.label = xstrdup(s->label), .copy = copy, .blocks = r->kind ? 0 : r->n};
    id_of(group, &b->of, NULL, NULL);
    id_of(cell.id, &b->of, NULL, s->label);
    APPEND(b->cells, b->n) = cell;
    int code = put_cell(b, s, &cell, group, r);
    return code ? code : record_sync(&b->record);
}

int job_recording_end(struct job_recording *b, bool complete)
{
    char group[PLAN_ID];
    size_t n = 0;
    if (b->record.fd < 0)
        return GS_OK;
    id_of(group, &b->of, NULL, NULL);
    for (size_t i = 0; i < b->n; i++) { /* what failed is not closed */
        struct job_cell *cell = &b->cells[i];
        free(cell->label);
        if (cell->blocks)
            b->cells[n++] = *cell;
    }
    int code = put_end(&b->record, group, b->cells, n, complete);
    int closed = record_close(&b->record);
    free(b->cells);
    b->cells = NULL;
    b->record.fd = -1;
    return code ? code : closed;
}

/* ---- reading ---- */

struct reading {
    struct visits *all;
    struct job_cell *cells; /* of this launch */
    size_t n;
    /* A launch of its own is a visit of the median of its series: 0 of one that failed. */
    bool launches, failed;
    int launch;
    double *series;
    size_t n_series;
};

static void end_series(struct reading *f)
{
    if (f->n && f->launches && (f->n_series || f->failed)) {
        const struct job_cell *cell = &f->cells[f->n - 1];
        double ns = f->n_series ? stats_median(f->series, f->n_series) : 0;
        APPEND(f->all->v, f->all->n) = (struct visit){.launch = f->launch,
                                                      .copy = cell->copy,
                                                      .steps = 2,
                                                      .arm = xstrdup(cell->label),
                                                      .most_ns = (uint64_t)ns,
                                                      .left_out = !strcmp(cell->label, "none")};
    }
    free(f->series);
    f->series = NULL;
    f->n_series = 0;
    f->failed = false;
}

static void end_cells(struct reading *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->cells[i].label);
    f->n = 0;
}

static bool take_visit(void *ctx, const struct raw_line *l)
{
    struct reading *f = ctx;
    const json_t *o = l->json, *each = json_object_get(o, "rank_ns");
    struct visits *all = f->all;
    struct job_cell *cell = f->cells;
    int64_t iters = json_integer_of(o, "iters");
    if (l->type == RAW_HEADER || l->type == RAW_CELL)
        end_series(f);
    if (l->type == RAW_HEADER) {
        const json_t *trial = json_object_get(o, "trial");
        end_cells(f);
        f->launches = !strcmp(json_text_of(o, "workload"), JOB_TUNE);
        f->launch = l->launch;
        all->ranks = json_integer_of(o, "ranks");
        all->step_calls = json_integer_of(trial, "step_calls");
        all->periods = fmax(all->periods, json_number_value(json_object_get(trial, "periods")));
        all->step_B = json_integer_of(trial, "step_B");
    } else if (l->type == RAW_CELL) {
        cell = &APPEND(f->cells, f->n);
        *cell = (struct job_cell){.label = xstrdup(json_text_of(o, "config")),
                                  .copy = json_integer_of(o, "copy")};
        snprintf(cell->id, sizeof cell->id, "%s", json_text_of(o, "cell"));
    } else if (l->type == RAW_FAIL) {
        f->failed = true;
    } else if (f->launches && l->type == RAW_BLOCK && l->n) {
        APPEND(f->series, f->n_series) = (double)l->time_ns[0] / (double)(iters > 0 ? iters : 1);
    }
    while (cell && cell < f->cells + f->n && strcmp(cell->id, json_text_of(o, "cell")))
        cell++;
    if (!cell || cell == f->cells + f->n || f->launches)
        return true;
    if (l->type == RAW_NOTE && !strcmp(json_text_of(o, "key"), "ran"))
        cell->left_out = strstr(json_text_of(o, "value"), "none") != NULL;
    if (l->type != RAW_BLOCK || l->n != 1 || iters < 1)
        return true;
    struct visit *v = &APPEND(all->v, all->n);
    *v = (struct visit){.launch = l->launch,
                        .block = json_integer_of(o, "block") - 1,
                        .copy = json_integer_of(o, "copy"),
                        .steps = iters + 1,
                        .arm = xstrdup(cell->label),
                        .most_ns = l->time_ns[0],
                        .left_out = cell->left_out};
    if (all->ranks > 0 && json_array_size(each) == (size_t)all->ranks)
        v->rank_ns = xcalloc((size_t)all->ranks, sizeof *v->rank_ns);
    for (size_t i = 0; v->rank_ns && i < json_array_size(each); i++)
        v->rank_ns[i] = (uint64_t)json_integer_value(json_array_get(each, i));
    return true;
}

int job_recording_visits(struct visits *all, const char *dir)
{
    const unsigned types =
        1u << RAW_HEADER | 1u << RAW_CELL | 1u << RAW_NOTE | 1u << RAW_BLOCK | 1u << RAW_FAIL;
    struct reading f = {.all = all};
    *all = (struct visits){0};
    int code = raw_each(dir, types, take_visit, &f);
    end_series(&f);
    end_cells(&f);
    free(f.cells);
    if (code)
        visits_free(all);
    return code;
}

char *job_recording_root(const char *dir, const char *platform)
{
    char *path = realpath(dir, NULL);
    AUTO_FREE char *end =
        xstrfmt("/%s/" JOB_TUNE "/%s", platform, path ? path_name(path) : path_name(dir));
    if (path && text_ends(path, end)) {
        path[strlen(path) - strlen(end)] = '\0';
        return path;
    }
    free(path);
    fail(GS_USAGE,
         "tune: %s is not in a folder %s/" JOB_TUNE
         " of recordings; the price and the proof are beside it: move all of them",
         dir, platform);
    return NULL;
}
