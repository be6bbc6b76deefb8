/* SPDX-License-Identifier: Apache-2.0 */
#include "job/train.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/secrets.h"
#include "base/shell.h"
#include "base/text.h"
#include "base/units.h"
#include "config/params.h"
#include "config/settings.h"
#include "job/job_output.h"
#include "job/job_process.h"
#include "job/job_recording.h"
#include "job/job_watch.h"
#include "plan/plan.h"
#include "record/ledger.h"
#include "record/raw.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAUNCHED "launched"
/* Step times in a fail line, at most 20 bytes each: a line has at most RAW_LINE_MAX. */
#define PRINTED_MAX 300000
/* Fewer steps have no warm-up (stats_warmup). One may be the whole of a benchmark. */
#define STEPS_MIN 8
#define RANKS 100 /* each may print the times of all steps */

struct launching {
    const struct plan *plan;
    const char *dir;
    struct interrupts *interrupts;
    int launch;
    struct train_settings set;
    char *command; /* with its secrets, which config.ini does not hold */
    struct record record;
    char *log_path;
    int log;
    size_t starts, started; /* in this launch */
    char *known;            /* the GPUs and the NCCL that the recording names already */
};

/* One start of the command in a launch: a cell of a group, and its copy. */
struct slot {
    const struct cell *cell;
    int copy;
    bool measured, failed;
    size_t blocks;
};

/* What it gave. */
struct result {
    struct job_ended ended;
    const struct job_step *steps;
    size_t n;
    const char *kind; /* of a fail line; NULL: none */
    char why[400];    /* one line for the recording and the user */
};

/* "bucket_cap=50", or "bucket_cap=25 again" for the second copy of a baseline; in a plan of several
 * groups with the values of their axes: "bucket_cap=50 (batch=8)". The caller frees. */
static char *name_of(const struct plan *p, const struct slot *s)
{
    struct text t = {0};
    char value[WL_TEXT_MAX];
    text_addf(&t, "%s%s", s->cell->config, s->copy ? " again" : "");
    size_t stem = t.len;
    for (const struct wl_param *q = p->plugin->wl.params; q->name && p->n_groups > 1; q++)
        if (q->role == WL_AXIS)
            text_addf(&t, "%s%s=%s", t.len > stem ? " " : " (", q->name,
                      param_format(q, s->cell->values, value, sizeof value));
    if (t.len > stem)
        text_add(&t, ")");
    return t.s;
}

/* ---- the command with the values of a cell ---- */

struct filling {
    const struct launching *l;
    const struct cell *cell;
    char value[WL_TEXT_MAX];
};

static const char *value_of(void *ctx, const char *name)
{
    struct filling *f = ctx;
    const struct plan *p = f->l->plan;
    const struct wl_param *q = params_find(p->plugin->wl.params, name);
    long long number = !strcmp(name, "ranks")   ? p->set.launch.ranks
                       : !strcmp(name, "nodes") ? p->set.launch.nodes
                                                : f->l->launch;
    if (q)
        param_format(q, f->cell->values, f->value, sizeof f->value);
    else
        snprintf(f->value, sizeof f->value, "%lld", number);
    return f->value;
}

static char *filled(const struct launching *l, const struct cell *cell, const char *text)
{
    struct filling f = {.l = l, .cell = cell};
    return train_fill(text, value_of, &f);
}

/* A script of a shell: the variables of the cell, then the command. */
static char *script_of(const struct launching *l, const struct cell *cell)
{
    struct text t = {0};
    char value[WL_TEXT_MAX];
    AUTO_FREE char *command = filled(l, cell, l->command);
    for (const struct wl_param *p = l->plan->plugin->wl.params; p->name; p++) {
        if (!train_is_variable(p->name))
            continue;
        param_format(p, cell->values, value, sizeof value);
        if (strcmp(value, TRAIN_UNSET))
            text_addf(&t, "export %s=%s\n", p->name, SHELL_WORD(value));
        else
            text_addf(&t, "unset %s\n", p->name);
    }
    text_addf(&t, "%s\n", command);
    return t.s;
}

/* ---- its result ---- */

static void judge(struct result *r, const struct launching *l, const struct job_output *o,
                  const struct job_times *t)
{
    size_t n = 0, size = sizeof r->why;
    char first[64] = "";
    r->n = job_times_get(t, &r->steps);
    r->kind = job_ended_kind(&r->ended, r->why, size);
    if (r->ended.hung) {
        snprintf(r->why, size, "ended after %s (timeout)", HUMAN_TIME(l->set.timeout));
    } else if (!r->kind && *job_times_wrong(t)) {
        r->kind = "failed";
        snprintf(r->why, size, "%s", job_times_wrong(t));
        return;
    } else if (!r->kind && !r->n) {
        r->kind = "failed";
        snprintf(r->why, size,
                 l->set.time ? "no step time in %s; compare its lines with 'time' of [%s]"
                             : "no step time that gradsync knows in %s; set 'time' of [%s], e.g. "
                               "time = step time: ([0-9.]+) ms",
                 l->set.file ? "its file" : "its output", l->plan->section);
    }
    if (!r->kind)
        return;
    if (r->n > PRINTED_MAX)
        snprintf(first, sizeof first, "the first %d of ", PRINTED_MAX);
    n = strlen(r->why);
    if (r->n)
        snprintf(r->why + n, size - n, "; %s%zu step time%s recorded, not compared", first, r->n,
                 r->n == 1 ? "" : "s");
    n = strlen(r->why);
    AUTO_FREE char *reason = job_output_reason(o);
    snprintf(r->why + n, size - n, "%s", reason);
}

static void say_result(const struct launching *l, const struct slot *s, const struct result *r)
{
    long long planned = l->plan->set.measure.launches; /* a launch may replace another one */
    long long launches = l->launch > planned ? l->launch : planned;
    double more =
        (double)(l->starts - l->started) + (double)l->starts * (double)(launches - l->launch);
    AUTO_FREE char *name = name_of(l->plan, s);
    if (r->kind)
        say("%s: launch %d of %lld: %s: %s: %s (%s)", l->plan->section, l->launch, launches, name,
            r->kind, r->why, path_name(l->log_path));
    else
        say("%s: launch %d of %lld: %s: %zu step time%s, median %s, in %s%s%s%s", l->plan->section,
            l->launch, launches, name, r->n, r->n == 1 ? "" : "s",
            HUMAN_TIME(job_steps_median_s(r->steps, r->n)), HUMAN_TIME(r->ended.took_s),
            more > 0 ? "; about " : "", more > 0 ? HUMAN_TIME(r->ended.took_s * more) : "",
            more > 0 ? " left" : "");
}

/* The unit of the times cannot be right, or they are too few. */
static void warn_times(const struct launching *l, const struct slot *s, const struct result *r)
{
    AUTO_FREE char *name = name_of(l->plan, s);
    double sum = 0;
    for (size_t i = 0; i < r->n; i++)
        sum += (double)r->steps[i].ns * 1e-9;
    if (sum > RANKS * r->ended.took_s)
        say("%s: warning: %s: the step times add up to %s, but the command took %s; set 'unit' to "
            "that of the times",
            l->plan->section, name, HUMAN_TIME(sum), HUMAN_TIME(r->ended.took_s));
    if (r->n > 1 && r->n < STEPS_MIN)
        say("%s: warning: %s: %zu step times are too few to leave out the warm-up; let the command "
            "print %d or more",
            l->plan->section, name, r->n, STEPS_MIN);
}

/* A command that ends early may end well. most: the times of the longest start. */
static void warn_short(const struct launching *l, const struct slot *s, size_t most)
{
    AUTO_FREE char *name = name_of(l->plan, s);
    if (s->measured && 2 * s->blocks < most)
        say("%s: warning: launch %d of %s has less than half as many step times as others; did it "
            "end early? See %s",
            l->plan->section, l->launch, name, path_name(l->log_path));
}

/* The times that the command printed before it failed stand in the fail line: no verdict reads them
 * there. */
static int record_failure(struct launching *l, struct slot *s, const struct result *r)
{
    json_t *line =
        raw_fail_line(&(struct raw_death){s->cell->id, r->kind, r->why, "", "train", s->copy, -1});
    json_t *printed = json_array();
    for (size_t i = 0; i < r->n && i < PRINTED_MAX; i++)
        json_array_append_new(printed, json_integer((json_int_t)r->steps[i].ns));
    json_object_set_new(line, "printed_ns", printed);
    s->failed = true;
    return record_line(&l->record, line);
}

/* At most [measure] max_blocks blocks, and the note `launched`. */
static int record_times(struct launching *l, struct slot *s, const struct result *r)
{
    size_t blocks = (size_t)l->plan->set.measure.max_blocks, each = (r->n + blocks - 1) / blocks;
    AUTO_FREE uint64_t *ns = xcalloc(each, sizeof *ns);
    AUTO_FREE char *text = xstrfmt("%zu step times in %.1f s", r->n, r->ended.took_s);
    int code = GS_OK;
    for (size_t i = 0; i < r->n && !code; i += each) {
        size_t n = r->n - i < each ? r->n - i : each;
        for (size_t k = 0; k < n; k++)
            ns[k] = r->steps[i + k].ns;
        code = record_block(&l->record,
                            json_pack("{ss ss si sI sf si}", "type", "block", "cell", s->cell->id,
                                      "copy", s->copy, "block", (json_int_t)++s->blocks, "at",
                                      round(r->steps[i].at * 1e3) / 1e3, "iters", 1),
                            ns, n);
    }
    if (!code)
        code = record_line(&l->record, record_note_line(s->cell->id, s->copy, LAUNCHED, text));
    s->measured = !code;
    return code;
}

/* On what it ran: once, unless a later start runs elsewhere. */
static int note_machine(struct launching *l, const struct job_watch *job)
{
    AUTO_JSON json_t *gpus = job_watch_gpus(job);
    const char *nccl = job_watch_nccl(job);
    AUTO_FREE char *text = json_dumps(gpus, JSON_COMPACT);
    char *now = xstrfmt("%s %s", nccl ? nccl : "", text);
    bool same = l->known && !strcmp(l->known, now);
    free(l->known);
    l->known = now;
    return same ? GS_OK : job_recording_machine(&l->record, job);
}

/* ---- a start of the command ---- */

static void log_title(const struct launching *l, const struct slot *s, const char *script)
{
    AUTO_FREE char *name = name_of(l->plan, s), *shown = secrets_hidden(script);
    dprintf(l->log, "== launch %d, %s (%s)\n%s", l->launch, name, s->cell->params, shown);
}

static int start(struct launching *l, const struct group *g, struct slot *s, bool *stopped)
{
    AUTO(job_times_free_of) struct job_times *times = job_times_new(&l->set);
    struct job_watch *job = job_watch_new();
    struct job_output output = {.log = l->log, .times = l->set.file ? NULL : times, .job = job};
    const struct job_hooks hooks = {
        .take = job_output_take, .meanwhile = job_output_meanwhile, .ctx = &output};
    struct result r = {0};
    struct job_file file;
    AUTO_FREE char *script = script_of(l, s->cell);
    AUTO_FREE char *path = l->set.file ? filled(l, s->cell, l->set.file->value) : NULL;
    if (path)
        job_file_note(&file, path);
    log_title(l, s, script);
    int code = job_guarded(script, l->set.timeout, l->interrupts, &hooks, &r.ended);
    job_output_end(&output);
    if (!code && path && !job_file_read(&file, times))
        snprintf(output.last, sizeof output.last, "%s: %s", path, strerror(errno));
    *stopped = r.ended.stopped;
    l->started++;
    if (!code && !*stopped) {
        judge(&r, l, &output, times);
        if (!(code = note_machine(l, job)) &&
            !(code = r.kind ? record_failure(l, s, &r) : record_times(l, s, &r)) &&
            !(code = record_sync(&l->record)))
            code = job_recording_health(&l->record, job, g->id, s->blocks);
        say_result(l, s, &r);
        if (!r.kind && l->launch == 1 && !s->copy)
            warn_times(l, s, &r);
    }
    job_output_free(&output);
    job_watch_free(job);
    return code;
}

/* ---- earlier attempts ---- */

struct carrier {
    struct record *to;
    struct slot *slots;
    size_t n;
    bool *theirs; /* slots that this attempt has measured */
};

static struct slot *slot_of(const struct carrier *c, const struct raw_line *l)
{
    const char *cell = json_text_of(l->json, "cell");
    int64_t copy = json_integer_value(json_object_get(l->json, "copy"));
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->slots[i].cell->id, cell) && c->slots[i].copy == copy)
            return &c->slots[i];
    return NULL;
}

static bool is_launched(const struct raw_line *l)
{
    return l->type == RAW_NOTE && !strcmp(json_text_of(l->json, "key"), LAUNCHED);
}

static int mark(struct carrier *c, struct slot *s, const struct raw_line *l)
{
    if (l->type == RAW_FAIL)
        s->failed = true;
    else if (is_launched(l) && !s->measured)
        c->theirs[s - c->slots] = true;
    return GS_OK;
}

static int copy_line(struct carrier *c, struct slot *s, const struct raw_line *l)
{
    if (!c->theirs[s - c->slots] || l->type == RAW_FAIL)
        return GS_OK;
    s->measured = true;
    s->blocks += l->type == RAW_BLOCK;
    json_t *line = json_copy(l->json);
    json_object_del(line, "chain"); /* of its own file */
    return l->type == RAW_BLOCK ? record_block(c->to, line, l->time_ns, l->n)
                                : record_line(c->to, line);
}

static int each_line(struct carrier *c, const char *path,
                     int (*take)(struct carrier *, struct slot *, const struct raw_line *))
{
    const unsigned want = 1u << RAW_CELL | 1u << RAW_NOTE | 1u << RAW_BLOCK | 1u << RAW_FAIL;
    AUTO(raw_close_of) struct raw *raw = NULL;
    struct raw_line l;
    int got = 0, code = raw_open(&raw, path);
    if (code)
        return code;
    while (!code && (got = raw_next(raw, want, &l)) == 1) {
        struct slot *s = slot_of(c, &l);
        code = s ? take(c, s, &l) : GS_OK;
    }
    return got < 0 ? GS_FAILED : code;
}

/* Copies the slots that earlier attempts of this launch have measured, and marks those that failed. */
static int carry(struct launching *l, struct slot *slots, size_t n)
{
    AUTO(ledger_free_of) struct ledger *earlier = NULL;
    int code = ledger_read(&earlier, l->dir);
    if (code)
        return code;
    for (size_t i = 0; i < earlier->n_files && !code; i++) {
        struct carrier c = {&l->record, slots, n, xcalloc(n, sizeof *c.theirs)};
        const char *path = earlier->files[i].path;
        if (earlier->files[i].launch == l->launch && strcmp(path, l->record.path))
            code = each_line(&c, path, mark) ? GS_FAILED : each_line(&c, path, copy_line);
        free(c.theirs);
    }
    return code;
}

/* ---- a group ---- */

/* A group in which nothing was measured stays open: its failures say why. */
static int close_group(struct launching *l, const struct group *g, const struct slot *slots,
                       size_t n)
{
    json_t *cells = json_array();
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = slots[i].blocks > most ? slots[i].blocks : most;
    for (size_t i = 0; i < n; i++) {
        warn_short(l, &slots[i], most);
        if (slots[i].measured)
            json_array_append_new(cells, record_closed_cell(slots[i].cell, slots[i].copy,
                                                            slots[i].blocks, false, NAN));
    }
    if (!most) {
        json_decref(cells);
        return GS_OK;
    }
    return record_line(&l->record, record_group_line(g, (int)most, cells));
}

static int start_all(struct launching *l, const struct group *g, struct slot *slots,
                     const size_t *order, size_t n, bool *complete)
{
    int code = GS_OK;
    for (size_t k = 0; k < n && *complete && !code; k++) {
        struct slot *s = &slots[order[k]];
        bool stopped = false;
        interrupts_read(l->interrupts);
        if (l->interrupts->count)
            *complete = s->measured || s->failed;
        if (s->measured || s->failed || !*complete)
            continue;
        code = record_line(&l->record, record_cell_line(l->plan, g, s->cell, s->copy, 1, k + 1));
        if (!code)
            code = start(l, g, s, &stopped);
        *complete = !stopped;
    }
    return code;
}

/* In the plan's order; the caller frees *slots. */
static size_t make_slots(struct slot **slots, const struct plan *p, const struct group *g)
{
    size_t n = 0;
    *slots = xcalloc(2 * g->n, sizeof **slots);
    for (size_t i = g->first; i < g->first + g->n; i++)
        for (int copy = 0; copy < plan_group_copies(p, g, &p->cells[i]); copy++)
            (*slots)[n++] = (struct slot){.cell = &p->cells[i], .copy = copy};
    return n;
}

/* The order of an even launch mirrors that of the launch before: a slow drift cancels. */
static int measure_group(struct launching *l, size_t index, bool *complete)
{
    const struct group *g = &l->plan->groups[index];
    AUTO_FREE struct slot *slots = NULL;
    size_t n = make_slots(&slots, l->plan, g), *order = xcalloc(n, sizeof *order);
    plan_order_visits(order, n, l->plan->seed, 1, index, l->launch);
    int code = carry(l, slots, n);
    if (!code)
        code = start_all(l, g, slots, order, n, complete);
    if (!code && *complete)
        code = close_group(l, g, slots, n);
    free(order);
    return code;
}

static int measure_groups(struct launching *l, bool *complete)
{
    size_t n = l->plan->n_groups, *order = xcalloc(n, sizeof *order);
    AUTO_FREE bool *missing = xcalloc(n, sizeof *missing);
    struct ledger *ledger;
    int code = ledger_read(&ledger, l->dir);
    if (!code)
        ledger_missing(ledger, l->plan, l->launch, missing);
    plan_order_groups(order, n, l->plan->seed, l->launch);
    for (size_t i = 0; i < n && !code && *complete; i++)
        if (missing[order[i]])
            code = measure_group(l, order[i], complete);
    if (!code || ledger)
        ledger_free(ledger);
    free(order);
    return code;
}

/* ---- the attempt ---- */

static int restore_command(struct launching *l)
{
    AUTO_FREE char *missing = NULL;
    l->command = secrets_restored(l->set.command->value, &missing);
    return missing ? config_error(l->set.command,
                                  "secrets are not recorded; give it again: export %s=...", missing)
                   : GS_OK;
}

static int begin(struct launching *l, int attempt)
{
    AUTO_FREE char *path = record_path(l->dir, l->launch, attempt, "jsonl");
    l->log_path = record_path(l->dir, l->launch, attempt, "log");
    l->log = open(l->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    int code =
        l->log < 0 ? fail_file(l->log_path, "written", errno) : record_create(&l->record, path);
    if (code)
        return code;
    json_t *header = record_header(l->plan, l->dir, l->launch, attempt);
    json_object_set_new(header, "hosts", json_pack("[o]", record_host(0)));
    return record_line(&l->record, header);
}

int train_launch(const struct plan *p, const char *dir, struct interrupts *i, int launch,
                 int attempt, bool *complete)
{
    struct launching l = {.plan = p,
                          .dir = dir,
                          .interrupts = i,
                          .launch = launch,
                          .record = {.fd = -1},
                          .log = -1,
                          .starts = plan_visits(p)};
    *complete = true;
    int code = train_settings_read(&l.set, p->config, p->section);
    if (!code)
        code = restore_command(&l);
    if (!code)
        code = begin(&l, attempt);
    if (!code)
        code = measure_groups(&l, complete);
    if (!code)
        code = record_line(&l.record, raw_end_line(*complete ? "complete" : "interrupted"));
    if (!code)
        code = record_sync(&l.record);
    int closed = record_close(&l.record);
    if (l.log >= 0)
        close(l.log);
    free(l.log_path);
    free(l.known);
    free(l.command);
    return code ? code : closed;
}
