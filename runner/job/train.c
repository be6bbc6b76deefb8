/* SPDX-License-Identifier: Apache-2.0 */
#include "job/train.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/secrets.h"
#include "base/shell_quote.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/units.h"
#include "config/params.h"
#include "config/train_settings.h"
#include "job/job_output.h"
#include "job/job_process.h"
#include "plan/order.h"
#include "record/job_watch.h"
#include "record/ledger.h"
#include "record/provenance.h"
#include "record/raw.h"
#include "record/record_cells.h"
#include "record/record_end.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ==== train_fault ====
 *
 * What went wrong in a start of the user's command. */

/* Step times in a fail line, at most 20 bytes each: a line has at most RAW_LINE_MAX. */
#define TRAIN_PRINTED_MAX 300000

/* One line for the recording and the user. */
struct train_fault {
    const char *kind; /* of a fail line; NULL: none */
    char why[400];
};

/* `section`: that of the config, where 'time' stands. */
struct train_fault train_judge(const struct train_settings *set, const char *section,
                               const struct train_ended *e, const struct train_output *o,
                               const struct train_times *t);

/* "; 60 step times recorded, not compared" */
static void printed(struct train_fault *f, size_t steps)
{
    size_t n = strlen(f->why);
    char first[64] = "";
    if (steps > TRAIN_PRINTED_MAX)
        snprintf(first, sizeof first, "the first %d of ", TRAIN_PRINTED_MAX);
    if (steps)
        snprintf(f->why + n, sizeof f->why - n, "; %s%zu step time%s recorded, not compared", first,
                 steps, steps == 1 ? "" : "s");
}

static void last_words(struct train_fault *f, const struct train_output *o)
{
    size_t n = strlen(f->why);
    if (*o->last)
        snprintf(f->why + n, sizeof f->why - n, "; its last line: %s", o->last);
}

struct train_fault train_judge(const struct train_settings *set, const char *section,
                               const struct train_ended *e, const struct train_output *o,
                               const struct train_times *t)
{
    struct train_fault f = {0};
    char limit[32];
    const struct train_step *steps;
    size_t n = train_times_get(t, &steps);
    if (e->hung) {
        f.kind = "hang";
        snprintf(f.why, sizeof f.why, "ended after %s (timeout)",
                 units_human_time(limit, sizeof limit, set->timeout));
    } else if (e->status > 128 && sigabbrev_np(e->status - 128)) {
        f.kind = "crash";
        snprintf(f.why, sizeof f.why, "ended by SIG%s", sigabbrev_np(e->status - 128));
    } else if (e->status) {
        f.kind = "crash";
        snprintf(f.why, sizeof f.why, "exit code %d", e->status);
    } else if (*train_times_wrong(t)) {
        f.kind = "failed";
        snprintf(f.why, sizeof f.why, "%s", train_times_wrong(t));
        return f;
    } else if (!n) {
        f.kind = "failed";
        snprintf(f.why, sizeof f.why, "no step time in %s; compare its lines with 'time' of [%s]",
                 set->file ? "its file" : "its output", section);
    }
    if (f.kind) {
        printed(&f, n);
        last_words(&f, o);
    }
    return f;
}

/* ==== train_script ====
 *
 * The user's command with the values of a cell in it. */

struct train_filling {
    const struct plan *plan;
    const struct cell *cell;
    int launch;
};

/* The text with its placeholders filled in; the caller frees it. */
char *train_filled(const struct train_filling *f, const char *text);
/* A script of a shell: the variables of the cell, then the command, filled in; the caller frees it. */
char *train_script(const struct train_filling *f, const char *command);

struct request {
    const struct train_filling *f;
    char value[WL_TEXT_MAX];
};

static const char *value_of(void *ctx, const char *name)
{
    struct request *r = ctx;
    const struct plan *p = r->f->plan;
    const struct wl_param *q = params_find(p->plugin->wl.params, name);
    const struct set_launch *s = &p->set.launch;
    long long number = !strcmp(name, "ranks")   ? s->ranks
                       : !strcmp(name, "nodes") ? s->nodes
                                                : r->f->launch;
    if (q)
        param_format(q, r->f->cell->values, r->value, sizeof r->value);
    else
        snprintf(r->value, sizeof r->value, "%lld", number);
    return r->value;
}

char *train_filled(const struct train_filling *f, const char *text)
{
    struct request r = {.f = f};
    return train_fill(text, value_of, &r);
}

char *train_script(const struct train_filling *f, const char *command)
{
    struct text t = {0};
    char value[WL_TEXT_MAX], *filled = train_filled(f, command);
    for (const struct wl_param *p = f->plan->plugin->wl.params; p->name; p++) {
        if (!train_is_variable(p->name))
            continue;
        param_format(p, f->cell->values, value, sizeof value);
        if (strcmp(value, TRAIN_UNSET))
            text_addf(&t, "export %s=%s\n", p->name, SHELL_WORD(value));
        else
            text_addf(&t, "unset %s\n", p->name);
    }
    text_addf(&t, "%s\n", filled);
    free(filled);
    return t.s;
}

/* ==== train_slot ====
 *
 * One start of the command in a launch: a cell of a group, and its copy. */

struct train_slot {
    const struct cell *cell;
    int copy;
    bool measured, failed;
    size_t blocks;
};

/* "bucket_cap=50", or "bucket_cap=25 again" for the second copy of a baseline; in a plan of several
 * groups with the values of their axes: "bucket_cap=50 (batch=8)". */
const char *train_slot_name(const struct plan *p, const struct train_slot *s, char *buf, size_t n);

/* The slots of a group, in the plan's order; the caller frees *slots. */
size_t train_slots_make(struct train_slot **slots, const struct plan *p, const struct group *g);

/* Writes the blocks of a slot, at most [measure] max_blocks, and its note `launched`. */
int train_slot_record(struct record *r, struct train_slot *s, const struct train_step *steps,
                      size_t n, int64_t max_blocks, double took_s);

/* Copies the slots that earlier attempts of this launch have measured, and marks those that failed.
 * GS_OK or reported. */
int train_slots_carry(struct record *r, struct train_slot *slots, size_t n, const char *dir,
                      int launch);

#define LAUNCHED "launched"

const char *train_slot_name(const struct plan *p, const struct train_slot *s, char *buf, size_t n)
{
    AUTO_TEXT struct text t = {0};
    char value[WL_TEXT_MAX];
    text_addf(&t, "%s%s", s->cell->config, s->copy ? " again" : "");
    size_t stem = t.len;
    for (const struct wl_param *q = p->plugin->wl.params; q->name && p->n_groups > 1; q++)
        if (q->role == WL_AXIS)
            text_addf(&t, "%s%s=%s", t.len > stem ? " " : " (", q->name,
                      param_format(q, s->cell->values, value, sizeof value));
    snprintf(buf, n, "%s%s", t.s, t.len > stem ? ")" : "");
    return buf;
}

size_t train_slots_make(struct train_slot **slots, const struct plan *p, const struct group *g)
{
    size_t n = 0;
    *slots = xcalloc(2 * g->n, sizeof **slots);
    for (size_t i = g->first; i < g->first + g->n; i++)
        for (int copy = 0; copy < group_copies(p, g, &p->cells[i]); copy++)
            (*slots)[n++] = (struct train_slot){.cell = &p->cells[i], .copy = copy};
    return n;
}

static int put_block(struct record *r, struct train_slot *s, const struct train_step *steps,
                     size_t n)
{
    AUTO_FREE uint64_t *ns = xcalloc(n, sizeof *ns);
    for (size_t i = 0; i < n; i++)
        ns[i] = steps[i].ns;
    return record_block(r,
                        json_pack("{ss ss si sI sf si}", "type", "block", "cell", s->cell->id,
                                  "copy", s->copy, "block", (json_int_t)++s->blocks, "at",
                                  round(steps->at * 1e3) / 1e3, "iters", 1),
                        ns, n);
}

int train_slot_record(struct record *r, struct train_slot *s, const struct train_step *steps,
                      size_t n, int64_t max_blocks, double took_s)
{
    size_t each = (n + (size_t)max_blocks - 1) / (size_t)max_blocks;
    int code = GS_OK;
    for (size_t i = 0; i < n && !code; i += each)
        code = put_block(r, s, steps + i, n - i < each ? n - i : each);
    AUTO_FREE char *text = xstrfmt("%zu step times in %.1f s", n, took_s);
    if (!code)
        code = record_line(r, record_note_line(s->cell->id, s->copy, LAUNCHED, text));
    s->measured = !code;
    return code ? code : record_sync(r);
}

/* ---- earlier attempts ---- */

struct carrier {
    struct record *to;
    struct train_slot *slots;
    size_t n;
    bool *theirs; /* slots that this attempt has measured */
};

static struct train_slot *slot_of(const struct carrier *c, const struct raw_line *l)
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

static int mark(struct carrier *c, struct train_slot *s, const struct raw_line *l)
{
    if (l->type == RAW_FAIL)
        s->failed = true;
    else if (is_launched(l) && !s->measured)
        c->theirs[s - c->slots] = true;
    return GS_OK;
}

static int copy_line(struct carrier *c, struct train_slot *s, const struct raw_line *l)
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
                     int (*take)(struct carrier *, struct train_slot *, const struct raw_line *))
{
    const unsigned want = 1u << RAW_CELL | 1u << RAW_NOTE | 1u << RAW_BLOCK | 1u << RAW_FAIL;
    AUTO(raw_close_of) struct raw *raw = NULL;
    struct raw_line l;
    int got = 0, code = raw_open(&raw, path);
    if (code)
        return code;
    while (!code && (got = raw_next(raw, want, &l)) == 1) {
        struct train_slot *s = slot_of(c, &l);
        code = s ? take(c, s, &l) : GS_OK;
    }
    return got < 0 ? GS_FAILED : code;
}

int train_slots_carry(struct record *r, struct train_slot *slots, size_t n, const char *dir,
                      int launch)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    int code = ledger_read(&l, dir);
    if (code)
        return code;
    for (size_t i = 0; i < l->n_files && !code; i++) {
        struct carrier c = {r, slots, n, xcalloc(n, sizeof *c.theirs)};
        const char *path = l->files[i].path;
        if (l->files[i].launch == launch && strcmp(path, r->path))
            code = each_line(&c, path, mark) ? GS_FAILED : each_line(&c, path, copy_line);
        free(c.theirs);
    }
    return code;
}

/* ==== train_warn ====
 *
 * What looks wrong about the step times of a command that has not failed. */

/* Fewer have no warm-up (stats_warmup). One may be the whole of a benchmark. */
enum { TRAIN_STEPS_MIN = 8 };

/* By say(): the unit of the times cannot be right, or they are too few. took_s: of the command. */
void train_warn_times(const struct plan *p, const struct train_slot *s, const struct train_times *t,
                      double took_s);
/* A command that ends early may end well. most: the times of the longest start; log: its path. */
void train_warn_short(const struct plan *p, const struct train_slot *s, int launch, size_t most,
                      const char *log);

#define RANKS 100 /* each may print the times of all steps */

static double sum_s(const struct train_step *steps, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)steps[i].ns * 1e-9;
    return sum;
}

void train_warn_times(const struct plan *p, const struct train_slot *s, const struct train_times *t,
                      double took_s)
{
    const struct train_step *steps;
    size_t n = train_times_get(t, &steps);
    char name[256], sum[32], took[32];
    double all_s = sum_s(steps, n);
    train_slot_name(p, s, name, sizeof name);
    if (all_s > RANKS * took_s)
        say("%s: warning: %s: the step times add up to %s, but the command took %s; set 'unit' to "
            "that of the times",
            p->section, name, units_human_time(sum, sizeof sum, all_s),
            units_human_time(took, sizeof took, took_s));
    if (n > 1 && n < TRAIN_STEPS_MIN)
        say("%s: warning: %s: %zu step times are too few to leave out the warm-up; let the command "
            "print %d or more",
            p->section, name, n, TRAIN_STEPS_MIN);
}

void train_warn_short(const struct plan *p, const struct train_slot *s, int launch, size_t most,
                      const char *log)
{
    char name[256];
    if (s->measured && 2 * s->blocks < most)
        say("%s: warning: launch %d of %s has less than half as many step times as others; did it "
            "end early? See %s",
            p->section, launch, train_slot_name(p, s, name, sizeof name), path_name(log));
}

/* ==== train_launch ==== */

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

/* ---- its result ---- */

static double median_s(const struct train_step *steps, size_t n)
{
    double *x = xcalloc(n, sizeof *x), median;
    for (size_t i = 0; i < n; i++)
        x[i] = (double)steps[i].ns * 1e-9;
    median = stats_median(x, n);
    free(x);
    return median;
}

static void say_result(const struct launching *l, const struct train_slot *s,
                       const struct train_fault *f, const struct train_times *t, double took_s)
{
    char name[256], median[32], took[32], left[32];
    const struct train_step *steps;
    long long planned = l->plan->set.measure.launches; /* a launch may replace another one */
    long long launches = l->launch > planned ? l->launch : planned;
    double more =
        (double)(l->starts - l->started) + (double)l->starts * (double)(launches - l->launch);
    size_t n = train_times_get(t, &steps);
    train_slot_name(l->plan, s, name, sizeof name);
    units_human_time(took, sizeof took, took_s);
    units_human_time(left, sizeof left, took_s * more);
    if (f->kind)
        say("%s: launch %d of %lld: %s: %s: %s (%s)", l->plan->section, l->launch, launches, name,
            f->kind, f->why, path_name(l->log_path));
    else
        say("%s: launch %d of %lld: %s: %zu step time%s, median %s, in %s%s%s%s", l->plan->section,
            l->launch, launches, name, n, n == 1 ? "" : "s",
            units_human_time(median, sizeof median, median_s(steps, n)), took,
            more > 0 ? "; about " : "", more > 0 ? left : "", more > 0 ? " left" : "");
}

/* The times that the command printed before it failed stand in the fail line: no verdict reads them
 * there. */
static json_t *fail_line(const struct train_slot *s, const struct train_fault *f,
                         const struct train_step *steps, size_t n)
{
    json_t *line = record_fail_line(
        &(struct record_death){s->cell->id, f->kind, f->why, "", "train", s->copy, -1});
    json_t *printed = json_array();
    for (size_t i = 0; i < n && i < TRAIN_PRINTED_MAX; i++)
        json_array_append_new(printed, json_integer((json_int_t)steps[i].ns));
    json_object_set_new(line, "printed_ns", printed);
    return line;
}

static int record_result(struct launching *l, struct train_slot *s, const struct train_fault *f,
                         const struct train_times *t, double took_s)
{
    const struct train_step *steps;
    size_t n = train_times_get(t, &steps);
    if (!f->kind)
        return train_slot_record(&l->record, s, steps, n, l->plan->set.measure.max_blocks, took_s);
    s->failed = true;
    int code = record_line(&l->record, fail_line(s, f, steps, n));
    return code ? code : record_sync(&l->record);
}

/* ---- on what it ran ---- */

static int note(struct launching *l, const char *key, const char *value)
{
    return *value ? record_line(&l->record, record_note_line("", 0, key, value)) : GS_OK;
}

static int note_gpu(struct launching *l, const json_t *gpu)
{
    static const char *const keys[][2] = {
        {"name", "gpu"}, {"uuid", "uuid"}, {"driver", "driver"}, {"cuda_driver", "cuda_driver"}};
    int code = GS_OK;
    for (size_t i = 0; i < COUNT(keys) && !code; i++)
        code = note(l, keys[i][1], json_text_of(gpu, keys[i][0]));
    return code;
}

/* Once, unless a later start runs elsewhere. */
static int note_job(struct launching *l, const struct job_watch *job)
{
    AUTO_JSON json_t *gpus = job_watch_gpus(job);
    const char *nccl = job_watch_nccl(job);
    AUTO_FREE char *text = json_dumps(gpus, JSON_COMPACT);
    char *now = xstrfmt("%s %s", nccl ? nccl : "", text);
    bool same = l->known && !strcmp(l->known, now);
    free(l->known);
    l->known = now;
    const json_t *gpu;
    size_t i;
    int code = GS_OK;
    json_array_foreach(gpus, i, gpu) if (!same && !code) code = note_gpu(l, gpu);
    return code || same || !nccl ? code : note(l, "nccl", nccl);
}

/* The clocks of the GPUs and the other programs on them, while this start ran. */
static int put_health(struct launching *l, const struct group *g, const struct train_slot *s,
                      const struct job_watch *job)
{
    json_t *after = job_watch_health(job);
    return after ? record_line(&l->record,
                               json_pack("{ss ss si s{} so}", "type", "health", "group", g->id,
                                         "block", s->blocks, "before", "after", after))
                 : GS_OK;
}

/* ---- a start of the command ---- */

static void log_title(const struct launching *l, const struct train_slot *s, const char *script)
{
    char name[256], *shown = secrets_hidden(script);
    dprintf(l->log, "== launch %d, %s (%s)\n%s", l->launch,
            train_slot_name(l->plan, s, name, sizeof name), s->cell->params, shown);
    free(shown);
}

static void read_file(const struct train_file *f, struct train_times *t, struct train_output *o)
{
    if (!train_file_read(f, t))
        snprintf(o->last, sizeof o->last, "%s: %s", f->path, strerror(errno));
}

static int start(struct launching *l, const struct group *g, struct train_slot *s, bool *stopped)
{
    AUTO(train_times_free_of) struct train_times *times = train_times_new(&l->set);
    struct job_watch *job = job_watch_new();
    struct train_output output = {.log = l->log, .times = l->set.file ? NULL : times, .job = job};
    const struct train_hooks hooks = {
        .take = train_output_take, .meanwhile = train_output_meanwhile, .ctx = &output};
    struct train_ended ended;
    struct train_file file;
    const struct train_filling cell = {l->plan, s->cell, l->launch};
    AUTO_FREE char *script = train_script(&cell, l->command);
    AUTO_FREE char *path = l->set.file ? train_filled(&cell, l->set.file->value) : NULL;
    if (path)
        train_file_note(&file, path);
    log_title(l, s, script);
    int code = train_process(script, l->set.timeout, l->interrupts, &hooks, &ended);
    train_output_end(&output);
    if (!code && path)
        read_file(&file, times, &output);
    *stopped = ended.stopped;
    l->started++;
    if (!code && !ended.stopped) {
        struct train_fault f = train_judge(&l->set, l->plan->section, &ended, &output, times);
        code = note_job(l, job);
        code = code ? code : record_result(l, s, &f, times, ended.took_s);
        code = code ? code : put_health(l, g, s, job);
        say_result(l, s, &f, times, ended.took_s);
        if (!f.kind && l->launch == 1 && !s->copy)
            train_warn_times(l->plan, s, times, ended.took_s);
    }
    train_output_free(&output);
    job_watch_free(job);
    return code;
}

/* ---- a group ---- */

/* A group in which nothing was measured stays open: its failures say why. */
static int close_group(struct launching *l, const struct group *g, const struct train_slot *slots,
                       size_t n)
{
    json_t *cells = json_array();
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = slots[i].blocks > most ? slots[i].blocks : most;
    for (size_t i = 0; i < n; i++) {
        train_warn_short(l->plan, &slots[i], l->launch, most, l->log_path);
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

static int start_all(struct launching *l, const struct group *g, struct train_slot *slots,
                     const size_t *order, size_t n, bool *complete)
{
    int code = GS_OK;
    for (size_t k = 0; k < n && *complete && !code; k++) {
        struct train_slot *s = &slots[order[k]];
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

/* The order of an even launch mirrors that of the launch before: a slow drift cancels. */
static int measure_group(struct launching *l, size_t index, bool *complete)
{
    const struct group *g = &l->plan->groups[index];
    AUTO_FREE struct train_slot *slots = NULL;
    size_t n = train_slots_make(&slots, l->plan, g), *order = xcalloc(n, sizeof *order);
    order_visits(order, n, l->plan->seed, 1, index, l->launch);
    int code = train_slots_carry(&l->record, slots, n, l->dir, l->launch);
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
    order_groups(order, n, l->plan->seed, l->launch);
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
    json_t *header = provenance_header(l->plan, l->dir, l->launch, attempt);
    json_object_set_new(header, "hosts", json_pack("[o]", provenance_host(0)));
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
        code = record_line(&l.record, record_end_line(*complete ? "complete" : "interrupted"));
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
