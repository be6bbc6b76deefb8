/* SPDX-License-Identifier: Apache-2.0 */
#include "train/train_launch.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/secrets.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/units.h"
#include "config/train_settings.h"
#include "plan/order.h"
#include "record/job_watch.h"
#include "record/ledger.h"
#include "record/provenance.h"
#include "record/record_cells.h"
#include "record/record_end.h"
#include "train/train_fault.h"
#include "train/train_file.h"
#include "train/train_output.h"
#include "train/train_process.h"
#include "train/train_script.h"
#include "train/train_slot.h"
#include "train/train_warn.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
