/* SPDX-License-Identifier: Apache-2.0 */
#include "job/tune.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/shell.h"
#include "base/term.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/collect.h"
#include "job/job_process.h"
#include "job/job_recording.h"
#include "job/launch.h"
#include "job/price.h"
#include "job/race.h"
#include "job/tune_answer.h"
#include "job/tune_setting.h"
#include "record/begun.h"
#include "record/manifest.h"
#include "record/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROOF_LEAST 3  /* launches, if time is short */
#define PROOF_STARTS 3 /* of a launch of the proof: the job as it is twice, and the winner */
#define ROUNDS_MOST 64 /* of launches of settings */
#define FIRST_S 180.0  /* the first launch ends if it has no step after so long */
#define BLOCKS_LATER 3 /* of a later launch */
#define ARMS_MOST 24   /* of settings, in one launch */
#define UNSEEN_S 20.0  /* a job whose communication no arm leaves out may still print a step time */
#define STEPLESS_CALLS 300
#define SILENT_S 30.0 /* without a visit: the job hangs */

struct tune {
    struct tune_options o;
    char **command;
    struct launch_job job;
    json_t *state; /* what was read; options are texts of it */
    char *root;    /* the folder of all recordings, of a run that was read */
    struct race race;
    struct visits starts; /* launches of the settings */
    struct price_answer price;
    struct interrupts interrupts;
    double minutes, memory;
    double began, spent_s; /* spent_s: by an interrupted run before this one */
    double start_s;        /* a launch takes about so long, */
    double base_s;         /* and one of the job as it is; 0: as long */
    double base_memory_B;
    double line_s;      /* of a step, by the lines that the job prints; 0: unknown */
    double periods;     /* of the visits, in such a step; 0: a step is one */
    double other_share; /* of the bytes of a step: those that no arm leaves out */
    double all_B;       /* of a step */
    enum tune_link link;
    int nccl, torch, round; /* round: of launches of settings, from 0 */
    long long ranks, nodes;
    char *race_dir, *proof_dir, *price_dir;
    struct words inside_names; /* variables that the program sets */
    struct words hung; /* arms in which the job hung: labels of settings, or none, one, half */
    size_t winner;
    char *uncounted;     /* launches of the proof that do not count, and why; NULL: none */
    long price_launches; /* launches of the recording of the price */
    struct effect proof; /* as compare prints it */
    double floor;        /* of the proof */
    double load;         /* the highest load average of other programs */
    char *shown;         /* the stage that was printed last */
    bool proven, raced;
    bool stopped, priced, captured, trusted; /* trusted: copies change nothing by themselves */
    bool control_known;                      /* whether they are to be trusted */
    bool log_named;                          /* in the message of a job that failed */
};

static double left_s(const struct tune *t)
{
    return t->minutes * 60 - t->spent_s - (clock_now_s() - t->began);
}

/* ---- one line that counts down; a line a stage in a file ---- */

static bool job_has_terminal; /* --keep: the job's own lines are there */

static void progress(struct tune *t, const char *stage, const char *detail)
{
    double left = fmax(0, left_s(t));
    AUTO_FREE char *line = xstrfmt("at most %d:%02d left: %s%s%s", (int)left / 60, (int)left % 60,
                                   stage, *detail ? ": " : "", detail);
    if (job_has_terminal)
        return;
    if (isatty(2))
        fprintf(stderr, "\r\033[K%.*s", (int)screen_columns(stderr) - 1, line);
    else if (!t->shown || strcmp(t->shown, stage))
        say("tune: at most %d:%02d left: %s", (int)left / 60, (int)left % 60, stage);
    xstrset(&t->shown, stage);
}

static void end_progress(void)
{
    if (isatty(2) && !job_has_terminal)
        fprintf(stderr, "\r\033[K");
}

/* A line in place of the one that counts down. */
#define tell(...) (end_progress(), say(__VA_ARGS__))

/* ---- the state, for resume ---- */

#define TUNE_STATE "tune.json" /* in the folder of the race */
#define SETTINGS_MOST 4096

/* A number in its range, a flag, another run, or a text. Older states lack some. */
static const struct member {
    const char *name;
    enum { STATE_REAL, STATE_INT, STATE_WIDE, STATE_FLAG, STATE_RUN, STATE_TEXT } kind;
    double least, most;
    size_t at; /* double, int, int64_t, bool, char * */
} members[] = {
#define AT(member) offsetof(struct tune, member)
    {"minutes", STATE_REAL, 0, 10000, AT(minutes)},
    {"worth", STATE_REAL, 0, 1, AT(race.worth)},
    {"memory", STATE_REAL, 0, 1, AT(memory)},
    {"spent_s", STATE_REAL, 0, 1e9, AT(spent_s)},
    {"start_s", STATE_REAL, 0, 1e9, AT(start_s)},
    {"base_s", STATE_REAL, 0, 1e9, AT(base_s)},
    {"step_s", STATE_REAL, 0, 1e9, AT(job.step_s)},
    {"line_s", STATE_REAL, 0, 1e9, AT(line_s)},
    {"periods", STATE_REAL, 0, 1e9, AT(periods)},
    {"other_share", STATE_REAL, 0, 1, AT(other_share)},
    {"all_B", STATE_REAL, 0, 1e18, AT(all_B)},
    {"base_memory_B", STATE_REAL, 0, 1e18, AT(base_memory_B)},
    {"calls", STATE_WIDE, 0, 1e9, AT(job.calls)},
    {"bytes", STATE_WIDE, 0, 1e18, AT(job.bytes)},
    {"link", STATE_INT, 0, TUNE_LINKS - 1, AT(link)},
    {"nccl", STATE_INT, 0, 1e7, AT(nccl)},
    {"torch", STATE_INT, 0, TUNE_DDP | TUNE_FSDP | TUNE_PYTHON, AT(torch)},
    {"ranks", STATE_WIDE, 0, 1 << 24, AT(ranks)},
    {"nodes", STATE_WIDE, 0, 1 << 24, AT(nodes)},
    {"winner", STATE_WIDE, 0, SETTINGS_MOST, AT(winner)},
    {"round", STATE_INT, 0, ROUNDS_MOST, AT(round)},
    {"load", STATE_REAL, 0, 1e9, AT(load)},
    {"priced", STATE_FLAG, 0, 0, AT(priced)},
    {"captured", STATE_FLAG, 0, 0, AT(captured)},
    {"trusted", STATE_FLAG, 0, 0, AT(trusted)},
    {"raced", STATE_FLAG, 0, 0, AT(raced)},
    {"proof", STATE_RUN, 0, 0, AT(proof_dir)},
    {"price_run", STATE_RUN, 0, 0, AT(price_dir)},
    {"price_launches", STATE_WIDE, 0, 1000, AT(price_launches)},
    {"seed", STATE_WIDE, 0, 0x1p63, AT(o.seed.value)},
    {"launches", STATE_WIDE, 0, 99, AT(race.proofs)},
    {"no_price", STATE_FLAG, 0, 0, AT(o.no_price)},
    {"platform", STATE_TEXT, 0, 0, AT(o.platform)},
    {"only", STATE_TEXT, 0, 0, AT(o.only)},
    {"emit", STATE_TEXT, 0, 0, AT(o.emit)},
    {"candidates", STATE_TEXT, 0, 0, AT(o.candidates)},
    {"arms", STATE_TEXT, 0, 0, AT(o.arms)},
    {"launch_file", STATE_TEXT, 0, 0, AT(o.launches)},
    {"library", STATE_TEXT, 0, 0, AT(o.library)},
};
_Static_assert(sizeof(long) == sizeof(int64_t) && sizeof(size_t) == sizeof(int64_t), "WIDE");

/* Runs are beside each other (record_make_run), so the folder of all recordings can be moved. */
static json_t *run_json(const struct tune *t, const char *run)
{
    const char *workload = run == t->price_dir && t->job.calls ? JOB_TRIAL : JOB_TUNE;
    AUTO_FREE char *path = run ? xstrfmt("../../%s/%s", workload, path_name(run)) : NULL;
    return json_text(path);
}

/* Its last two names: older states have the path itself, wherever that was. False: it is no run. */
static bool run_read(const struct tune *t, const char *path, char **run)
{
    AUTO_FREE char *workload = xstrdup(path);
    char *name = strrchr(workload, '/');
    if (!*path)
        return true; /* there is none */
    if (!name || !printable_name(name + 1))
        return false;
    *name = '\0';
    const char *of = path_name(workload);
    if (strcmp(of, JOB_TUNE) && strcmp(of, JOB_TRIAL))
        return false;
    AUTO_FREE char *beside = xstrfmt("%s/../../%s/%s", t->race_dir, of, name + 1);
    *run = realpath(beside, NULL);
    return true;
}

static json_t *member_json(const struct tune *t, const struct member *m)
{
    const void *at = (const char *)t + m->at;
    return m->kind == STATE_REAL   ? json_real(*(const double *)at)
           : m->kind == STATE_INT  ? json_integer(*(const int *)at)
           : m->kind == STATE_WIDE ? json_integer(*(const int64_t *)at)
           : m->kind == STATE_FLAG ? json_boolean(*(const bool *)at)
           : m->kind == STATE_RUN  ? run_json(t, *(char *const *)at)
                                   : json_text(*(char *const *)at);
}

/* False: it is out of its range, or of another type. */
static bool member_read(struct tune *t, const struct member *m, const json_t *v)
{
    void *at = (char *)t + m->at;
    const char *text = json_string_value(v);
    double number = json_number_value(v);
    bool in_range = number >= m->least && number <= m->most;
    switch (m->kind) {
    case STATE_REAL:
        *(double *)at = number;
        return json_is_number(v) && in_range;
    case STATE_INT:
        *(int *)at = (int)json_integer_value(v);
        return json_is_integer(v) && in_range;
    case STATE_WIDE:
        *(int64_t *)at = json_integer_value(v);
        return json_is_integer(v) && in_range;
    case STATE_FLAG:
        *(bool *)at = json_is_true(v);
        return json_is_boolean(v);
    case STATE_TEXT:
        *(const char **)at = text && *text ? text : NULL;
        return text;
    case STATE_RUN:
        return text && run_read(t, text, at);
    }
    return false;
}

/* A letter for each flag of a setting. */
static const struct {
    char letter;
    size_t at;
} flags[] = {
#define FLAG(member) offsetof(struct race_entry, member)
    {'i', FLAG(inside)}, {'o', FLAG(in[IN_JOB])}, {'l', FLAG(in[IN_LAUNCHES])}, {'d', FLAG(dead)},
    {'f', FLAG(fixed)},  {'u', FLAG(untried)},    {'x', FLAG(failed)},
};

static void flags_write(char word[COUNT(flags) + 1], const struct race_entry *e)
{
    for (size_t i = 0; i < COUNT(flags); i++)
        if (*(const bool *)((const char *)e + flags[i].at))
            *word++ = flags[i].letter;
    *word = '\0';
}

static void flags_read(struct race_entry *e, const char *word)
{
    for (size_t i = 0; i < COUNT(flags); i++)
        *(bool *)((char *)e + flags[i].at) = word && strchr(word, flags[i].letter);
}

static int write_state(const struct tune *t)
{
    json_t *settings = json_array(), *changes = json_array(), *marks = json_array();
    for (size_t i = 1; i < t->race.set.n; i++) {
        char word[COUNT(flags) + 1];
        AUTO_FREE char *apply = tune_setting_apply(&t->race.set.v[i], " ");
        flags_write(word, &t->race.v[i]);
        json_array_append_new(settings, json_text(apply));
        json_array_append_new(changes, json_text(t->race.set.v[i].changes));
        json_array_append_new(marks, json_text(word));
    }
    AUTO_JSON json_t *state = json_pack("{so so so so}", "command", command_record(t->command),
                                        "settings", settings, "changes", changes, "flags", marks);
    for (size_t i = 0; i < COUNT(members); i++)
        json_object_set_new(state, members[i].name, member_json(t, &members[i]));
    json_object_set_new(state, "spent_s", json_real(t->spent_s + clock_now_s() - t->began));
    AUTO_FREE char *text = json_dumps(state, JSON_INDENT(1));
    AUTO_FREE char *path = xstrfmt("%s/" TUNE_STATE, t->race_dir);
    if (!text || !files_replace(path, text, 0666))
        return fail_file(path, "written", errno);
    begun_mark(t->race_dir);
    return GS_OK;
}

/* ---- launches ---- */

static int open_log(struct tune *t, const char *dir, int launch)
{
    AUTO_FREE char *path = xstrfmt("%s/launch-%02d.01.log", dir, launch);
    if (t->job.log >= 0)
        close(t->job.log);
    t->job.log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return t->job.log < 0 ? fail_file(path, "written", errno) : GS_OK;
}

static const struct tune_setting as_is = {.label = (char *)TUNE_BASELINE};

static bool interrupted(struct tune *t)
{
    interrupts_read(&t->interrupts);
    t->stopped = t->stopped || t->interrupts.count > 0;
    return t->stopped;
}

/* The caller frees it. */
static char *name_of(const struct tune_setting *s)
{
    return strcmp(s->label, TUNE_BASELINE) ? tune_setting_words(s) : xstrdup("the job as it is");
}

/* The price goes on in each launch of the job as it is, so that it does not rest on one launch. */
#define AUTO_ARM "arm auto\n"
#define NONE_ARM AUTO_ARM "arm none\npart none\n"

/* The others wait for a process that is stopped. It may be so for a moment. */
static bool waits_for_stopped(struct launch *l, double now)
{
    struct launched *r = l->r;
    if (now < l->began + SILENT_S || !job_halted())
        r->halted_at = 0;
    else if (!(r->halted_at > 0))
        r->halted_at = now;
    if (!(r->halted_at > 0) || now < r->halted_at + 5)
        return false;
    r->kind = "hang";
    snprintf(r->why, sizeof r->why, "no step was found in %.0f s", now - l->began);
    return true;
}

/* A job that completes no visit any more hangs. It had longer to begin. Ranks that cannot write look the same. */
static bool hangs(struct launch *l)
{
    struct launched *r = l->r;
    const struct visits *all = &r->journals.visits;
    double now = clock_now_s();
    if (launch_is_full(l))
        return true;
    if (!r->journals.begun)
        return waits_for_stopped(l, now);
    if (all->n != r->progress || r->progress_at <= 0) {
        r->longest_s = fmax(r->longest_s, r->progress ? now - r->progress_at : 0);
        r->progress = all->n;
        r->progress_at = now;
    }
    double silent = now - r->progress_at;
    double visit = (double)r->journals.visit_steps * r->journals.step_s;
    if (silent <= fmax(SILENT_S, 6 * fmax(r->longest_s, visit)))
        return false;
    r->kind = "hang";
    snprintf(r->why, sizeof r->why, "it completed no visit for %.0f s and was killed", silent);
    return true;
}

static const char *const parts[] = {"none", "half", "one"};

static bool is_part(const char *arm)
{
    return !strcmp(arm, "none") || !strcmp(arm, "half") || !strcmp(arm, "one");
}

/* The price goes no further: no arm leaves communication out any more. */
static void leave_parts(struct tune *t)
{
    for (size_t i = 0; i < COUNT(parts); i++)
        words_add_once(&t->hung, parts[i]);
}

/* Settings are not compared inside the job any more, but in launches where these can change them. */
static void by_launches(struct tune *t)
{
    for (size_t i = 1; i < t->race.set.n; i++)
        if (t->race.v[i].inside) {
            t->race.v[i].in[IN_JOB] = false;
            t->race.v[i].in[IN_LAUNCHES] = !t->race.v[i].fixed;
        }
}

/* The engine has numbers for the settings: the one of this arm; 0: it is of none. */
static size_t setting_of(const struct tune *t, const char *arm)
{
    size_t i = 0;
    return sscanf(arm, "s%zu", &i) == 1 && i < t->race.set.n ? i : 0;
}

/* The job hung or crashed in an arm, whose turn it was. True: it is named, and left out from now on. */
static bool leave_hung(struct tune *t, const struct launched *r)
{
    const char *turn = r->journals.turn;
    const char *did = *r->crash ? "crashed" : "hung", *why = *r->crash ? r->crash : r->why;
    size_t i = setting_of(t, turn);
    if (!*turn || !strcmp(turn, TUNE_BASELINE))
        return false;
    if (is_part(turn)) {
        leave_parts(t); /* it does the same in each of them */
        tell("tune: the job %s where communication is left out (%s): %s", did, turn, why);
    } else if (i) {
        words_add_once(&t->hung, t->race.set.v[i].label);
        t->race.v[i].dead = true;
        t->race.v[i].in[IN_JOB] = false;
        tell("tune: %s: the job %s: %s", t->race.set.v[i].label, did, why);
    } else {
        words_add_once(&t->hung, turn);
        t->trusted = false;
        by_launches(t);
        tell("tune: the job %s in a copy with nothing changed: %s; copies are not used", did, why);
    }
    return true;
}

static size_t blocks_of(const struct visits *all)
{
    size_t first = 0, again = 0;
    for (size_t i = 0; i < all->n; i++)
        if (!strcmp(all->v[i].arm, TUNE_BASELINE)) {
            first += !all->v[i].copy;
            again += all->v[i].copy == 1;
        }
    return first < again ? first : again;
}

static bool later_enough(void *ctx, struct launch *l)
{
    const struct tune *t = ctx;
    const struct launched *r = l->r;
    if (hangs(l))
        return true;
    if (t->job.calls)
        return blocks_of(&r->journals.visits) >= BLOCKS_LATER ||
               (r->journals.ranks && r->journals.over >= r->journals.ranks);
    /* A line may be the mean of ten steps, so the time between lines counts. */
    double took = r->n ? r->v[r->n - 1].at - r->v[0].at : 0, sum = 0;
    for (size_t i = 0; i < r->n; i++)
        sum += (double)r->v[i].ns * 1e-9;
    took = fmax(took, sum);
    return r->n >= 6 && took >= fmin(5, fmax(0.5, t->minutes * 60 / 150));
}

/* A visit has two steps or four at least (plugins/engine/engine.h). */
static double visit_s(double step_s)
{
    return fmax(LAUNCH_VISIT_MS / 1e3, step_s < 0.5 ? 4 * step_s : 2 * step_s);
}

/* The time until a launch must have ended: --minutes, and a twentieth of them, since a job has some seconds to end. */
static double until_end_s(const struct tune *t)
{
    return left_s(t) + fmax(0.05 * 60 * t->minutes, 2);
}

/* Is there a price to take, as far as is known? */
static bool has_price(const struct tune *t)
{
    return !t->o.no_price && !words_has(&t->hung, "none");
}

static bool takes_price(const struct tune *t)
{
    return t->job.calls && t->price_dir && has_price(t);
}

/* The load average counts the job itself, too. */
static void look_at_load(struct tune *t)
{
    double load, own = t->nodes > 0 ? (double)(t->ranks / t->nodes) : 0;
    if (getloadavg(&load, 1) == 1 && load - own > (double)sysconf(_SC_NPROCESSORS_ONLN))
        t->load = fmax(t->load, load - own);
}

/* priced: it also takes the price, unless the job crashes or hangs there. */
static int start(struct tune *t, const char *what, const struct tune_setting *s, bool priced,
                 struct launched *r)
{
    AUTO_FREE char *name = name_of(s);
    struct launch l = {.job = &t->job, .seed = t->o.seed.value, .enough = later_enough, .ctx = t};
    look_at_load(t);
    progress(t, what, name);
    for (bool again = true; again;) {
        bool parts_too = priced && takes_price(t);
        l.arms = parts_too ? NONE_ARM : AUTO_ARM;
        l.timeout_s = fmax(1, fmin(4 * t->start_s + 20, until_end_s(t)));
        CHECK(launch_run(&l, s, r));
        again = parts_too && r->kind && is_part(r->journals.turn) && leave_hung(t, r);
        if (again)
            launched_free(r);
    }
    t->stopped = t->stopped || r->stopped;
    if (!r->kind && !r->stopped) {
        t->start_s = (t->start_s + r->took_s) / 2;
        if (!strcmp(s->label, TUNE_BASELINE))
            t->base_s = r->took_s;
    }
    return GS_OK;
}

static struct job_source source_of(const struct tune *t, const char *dir, int launch)
{
    return (struct job_source){t->o.platform,
                               dir,
                               t->command,
                               t->ranks > 0 ? t->ranks : 1,
                               t->nodes > 0 ? t->nodes : 1,
                               t->o.seed.value,
                               launch,
                               t->periods};
}

/* The visits of a launch, as another launch of the price. */
static int record_visits(struct tune *t, const struct launched *r, bool whole)
{
    if (!t->price_dir)
        CHECK(record_make_run(t->o.out, t->o.platform, JOB_TRIAL, "", &t->price_dir));
    const struct job_source s = source_of(t, t->price_dir, (int)++t->price_launches);
    CHECK(job_recording_trial(&r->journals, &s, r->watch, whole));
    CHECK(manifest_write(t->price_dir));
    CHECK(price_read(&t->price, t->price_dir));
    return write_state(t);
}

/* Of a launch of the job as it is; it may have ended before it had a price. */
static int record_price(struct tune *t, const struct launched *r)
{
    return visits_have(&r->journals.visits, "none") ? record_visits(t, r, true) : GS_OK;
}

/* A launch failed, or its setting had no effect or needs too much memory. */
static bool launch_failed(struct tune *t, const char *stage, const struct tune_setting *s,
                          struct launched *r)
{
    const char *kind = r->kind;
    AUTO_FREE char *name = name_of(s);
    if (!kind && s->torch.n && !*r->torch_changed)
        snprintf(r->why, sizeof r->why, "did not take effect");
    else if (!kind && strcmp(s->label, TUNE_BASELINE) && t->base_memory_B > 0 &&
             r->memory_B > (1 + t->memory) * t->base_memory_B)
        snprintf(r->why, sizeof r->why, "not advised: it needs %.0f%% more memory",
                 100 * (r->memory_B / t->base_memory_B - 1));
    else if (!kind)
        return false;
    r->kind = kind ? kind : "failed";
    tell("tune: %s%s%s: %s%s%s", stage ? stage : "", stage ? ": " : "", name, kind ? kind : "",
         kind ? ": " : "", r->why);
    return true;
}

struct turn {
    const struct tune_setting *setting;
    int copy; /* 1: the second of the job as it is */
};

/* Starts settings one after the other, as a launch of a recording, while there is time. */
static int run_turns(struct tune *t, const char *dir, int launch, const char *stage,
                     const char *what, const struct turn *turns, size_t n,
                     double (*time_left_s)(const struct tune *))
{
    struct job_recording b = {.of = source_of(t, dir, launch),
                              .stage = stage,
                              .link = tune_link_names[t->link],
                              .record = {.fd = -1}};
    bool whole = true, proof = !strcmp(stage, "proof");
    int code = open_log(t, dir, launch);
    TRY(code, job_recording_begin(&b));
    for (size_t k = 0; k < n && whole && !code; k++) {
        const struct tune_setting *s = turns[k].setting;
        bool base = !strcmp(s->label, TUNE_BASELINE);
        AUTO(launched_free) struct launched r = {0};
        whole = !interrupted(t) && time_left_s(t) > 0;
        TRY(code, whole ? start(t, what, s, base || proof, &r) : GS_OK);
        if (code || !whole || r.stopped)
            break;
        size_t i = tune_settings_find(&t->race.set, s->label);
        if (launch_failed(t, proof ? what : NULL, s, &r) && !proof && i < t->race.set.n) {
            t->race.v[i].failed = true;
            t->race.v[i].in[IN_LAUNCHES] = false;
        }
        code = job_recording_put(&b, s, turns[k].copy, &r);
        if (base && !r.kind && takes_price(t))
            TRY(code, record_price(t, &r));
    }
    int ended = job_recording_end(&b, whole && !t->stopped);
    return code ? code : ended;
}

/* ---- the first launch: the step, the price, and settings inside the job ---- */

/* The variable of a setting that the command or the program sets again, so that the environment cannot change it; NULL: none.
 */
static const char *set_again(const struct tune *t, const struct tune_setting *s, bool by_program)
{
    for (size_t i = 0; i < s->variables.n; i++) {
        AUTO_FREE char *name =
            xstrfmt("%.*s", (int)strcspn(s->variables.v[i], "="), s->variables.v[i]);
        if (by_program ? words_has(&t->inside_names, name) : command_sets(t->job.command, name))
            return s->variables.v[i];
    }
    return NULL;
}

static int make_settings(struct tune *t, const struct words *set_inside)
{
    const struct tune_request q = {&t->o, t->nccl, t->torch, t->nodes};
    struct tune_settings *set = &t->race.set;
    CHECK(tune_settings_make(set, &q, t->link));
    for (size_t i = 0; set_inside && i < set_inside->n && !t->o.arms && !t->o.launches; i++) {
        const char *word = set_inside->v[i];
        AUTO_FREE char *name = xstrfmt("%.*s", (int)strcspn(word, "="), word);
        AUTO_FREE char *apply = xstrfmt("%s=unset", name);
        say("tune: the program itself sets %s; it is tried without", word);
        tune_settings_add(set, apply, "a variable that the program sets is left out");
        words_add_once(&t->inside_names, name);
    }
    t->race.v = xcalloc(set->n + 1, sizeof *t->race.v);
    size_t arms = 0;
    for (size_t i = 1; i < set->n; i++) {
        const struct tune_setting *s = &set->v[i];
        struct race_entry *e = &t->race.v[i];
        const char *fixed = set_again(t, s, false);
        bool in_job =
            t->job.object && t->trusted && tune_setting_in_job(s, t->link) && arms < ARMS_MOST;
        e->dead = words_has(&t->hung, s->label);
        e->inside = e->in[IN_JOB] = in_job && !e->dead && !(fixed && t->link == TUNE_MPI);
        e->fixed = fixed || set_again(t, s, true);
        e->in[IN_LAUNCHES] = !e->inside && !e->fixed && !e->dead;
        arms += e->inside;
        if (fixed && !e->inside) {
            AUTO_FREE char *words = tune_setting_words(s);
            say("tune: the command sets %.*s itself, so %s is not tried", (int)strcspn(fixed, "="),
                fixed, words);
        }
    }
    return GS_OK;
}

static void free_settings(struct tune *t)
{
    tune_settings_free(&t->race.set);
    free(t->race.v);
    t->race.v = NULL;
}

struct first {
    struct tune *t;
    char *left; /* arms that have left, as the engine was told */
    bool less;  /* the price without half and one, since time is short */
    bool arms_told, told, time_told, price_told, price_done, settings_done, stepless_told;
    double made_at, unseen_at;
    int code;
};

/* n_parts: of the arms of a price. */
static char *arms_text(const struct tune *t, size_t n_parts)
{
    struct text text = {0};
    text_add(&text, AUTO_ARM);
    for (size_t i = 0; i < n_parts && !t->o.no_price; i++)
        if (!words_has(&t->hung, parts[i]))
            text_addf(&text, "arm %s\npart %s\n", parts[i], parts[i]);
    if (race_left(&t->race, IN_JOB) && !t->control_known)
        text_add(&text, t->link == TUNE_MPI ? "arm control\nmpi coll_tuned_allreduce_algorithm=0\n"
                                            : "arm control\ncopy\n");
    for (size_t i = 1; i < t->race.set.n; i++) {
        char id[32];
        snprintf(id, sizeof id, "s%zu", i);
        if (t->race.v[i].in[IN_JOB])
            tune_setting_arm(&text, id, &t->race.set.v[i], t->link);
    }
    return text.s;
}

/* The ranks wait for their arms once the first communicator is made. */
static void give_arms(struct first *f, struct launch *l)
{
    const struct journals *j = &l->r->journals;
    double now = clock_now_s();
    if (!j->made)
        return;
    f->made_at = f->made_at > 0 ? f->made_at : now;
    if (j->made < j->ranks && now < f->made_at + 5)
        return;
    struct tune *t = f->t;
    t->link = l->r->link;
    t->nccl = l->r->nccl;
    t->torch = l->r->torch;
    t->nodes = j->hosts;
    f->code = make_settings(t, &l->r->set_inside);
    AUTO_FREE char *arms = f->code ? xstrdup(AUTO_ARM) : arms_text(t, COUNT(parts));
    if (!t->o.no_price)
        tell("tune: this launch is thrown away: where communication is left out, its results are "
             "worthless");
    launch_tell(l, "arms", arms);
    f->arms_told = true;
}

/* --proof 0: no setting wins or leaves. All are measured in launches of BLOCKS_MIN blocks until the time is over. */
static bool only_measures(const struct tune *t)
{
    return !t->race.proofs;
}

/* Time that the proof needs, after the first launch. */
static double proof_s(const struct launched *r)
{
    return PROOF_LEAST * PROOF_STARTS * (r->begun_s + BLOCKS_LATER * 4 * visit_s(r->step_s));
}

static double reserve_s(const struct tune *t, const struct launched *r)
{
    return t->o.keep || only_measures(t) ? 0 : fmin(proof_s(r), 0.6 * t->minutes * 60);
}

static void say_step(const struct first *f, const struct launched *r)
{
    const struct tune *t = f->t;
    const struct journals *j = &r->journals;
    if (t->periods > 0)
        say("tune: a step takes %s, by the lines that the job prints; the job communicates over "
            "%s; visits are "
            "periods of %lld collective%s, %.0f a step",
            HUMAN_TIME(t->line_s), tune_link_words[t->link], (long long)j->step_calls,
            j->step_calls == 1 ? "" : "s", t->periods);
    else if ((j->equal || t->other_share > 0.5) && !(t->line_s > 0))
        say("tune: a period of %lld collective%s takes %s, which is a step if a step has so many; "
            "the job communicates over %s",
            (long long)j->step_calls, j->step_calls == 1 ? "" : "s", HUMAN_TIME(r->step_s),
            tune_link_words[t->link]);
    else
        say("tune: a step takes %s; the job communicates over %s", HUMAN_TIME(r->step_s),
            tune_link_words[t->link]);
}

/* Tells the engine which arms are decided, or have no time. */
static void tell_left(struct first *f, const struct launch *l)
{
    const struct tune *t = f->t;
    AUTO_TEXT struct text left = {0};
    text_add(&left, race_left(&t->race, IN_JOB) && !t->control_known ? "" : "control ");
    for (size_t i = 0; i < COUNT(parts); i++)
        if ((f->price_done && !only_measures(t)) || (i && f->less) || words_has(&t->hung, parts[i]))
            text_addf(&left, "%s ", parts[i]);
    for (size_t i = 1; i < t->race.set.n; i++)
        if (t->race.v[i].inside && !t->race.v[i].in[IN_JOB])
            text_addf(&left, "s%zu ", i);
    if (!strcmp(left.s, f->left ? f->left : ""))
        return;
    launch_tell(l, "leave", left.s);
    xstrset(&f->left, left.s);
}

/* There is no time for it. */
static void leave_untried(struct tune *t, size_t i)
{
    t->race.v[i].in[IN_JOB] = false;
    t->race.v[i].untried = true;
}

/* Visits of the next block. */
static size_t arms_in(const struct first *f)
{
    const struct tune *t = f->t;
    size_t open = race_left(&t->race, IN_JOB), control = open && !t->control_known,
           price = f->price_done || !has_price(t) ? 0
                   : f->less                      ? 1
                                                  : COUNT(parts);
    return 2 + open + control + price;
}

/* A price has nothing to leave out if no collective is large, and all settings of Open MPI in a job are algorithms of
 * all-reduce. */
static void leave_what_cannot_act(struct tune *t, const struct journals *j)
{
    if (!j->large_B && has_price(t)) {
        AUTO_FREE char *bytes = tune_bytes_text(t->other_share, t->all_B);
        AUTO_FREE char *sent =
            t->other_share < 0.01
                ? xstrdup("")
                : xstrfmt(
                      "; sends, receives and broadcasts of bytes, %s, are never left out either",
                      bytes);
        say("tune: no price: %s%s", PRICE_NOTHING, sent);
        leave_parts(t);
    }
    if (t->link != TUNE_MPI || j->reduced_B)
        return;
    for (size_t i = 1; i < t->race.set.n; i++)
        if (t->race.v[i].inside) {
            leave_untried(t, i);
            t->race.v[i].untried = false; /* more time would not help */
        }
    say("tune: no all-reduce repeats, so its algorithms are not compared");
}

/* Once the step is known: how long the price takes, and what has no time. */
static void announce(struct first *f, const struct launched *r)
{
    struct tune *t = f->t;
    size_t arms, kept;
    double visit = (double)r->journals.visit_steps * r->step_s;
    double time = left_s(t) - fmin(reserve_s(t, r), left_s(t) / 2);
    f->told = true;
    t->line_s = r->line_s;
    /* Beside other programs the times of lines and of visits differ by themselves. */
    double ratio = t->line_s / r->step_s, times = round(ratio);
    t->periods = times > 1 && fabs(ratio - times) < 0.1 * times && !(t->load > 0) ? times : 0;
    t->all_B = (double)(r->journals.other_B + r->journals.all_B);
    t->other_share = t->all_B > 0 ? (double)r->journals.other_B / t->all_B : 0;
    t->all_B *= fmax(1, t->periods);
    say_step(f, r);
    leave_what_cannot_act(t, &r->journals);
    arms = race_left(&t->race, IN_JOB);
    if (arms && *r->journals.before)
        say("tune: the job calls %s before NCCL; it is called as always, but not where a copy of "
            "NCCL is visited",
            r->journals.before);
    bool prices = has_price(t);
    /* The first block has begun with all arms. */
    double done = visit * (double)r->journals.visits.n, later = (BLOCKS_MIN - 1) * visit;
    double whole = BLOCKS_MIN * visit * (double)arms_in(f) - done;
    double spent = t->minutes * 60 - left_s(t),
           all = ceil((spent + whole + (reserve_s(t, r) > 0 ? proof_s(r) : 0)) / 60);
    f->less = whole > time;
    whole -= f->less && prices ? later * 2 : 0;
    for (size_t i = t->race.set.n; i-- > 1 && whole > time;)
        if (t->race.v[i].in[IN_JOB]) {
            leave_untried(t, i);
            whole -= later;
        }
    kept = race_left(&t->race, IN_JOB);
    whole -= !kept && arms ? later : 0; /* the control */
    if (!kept && (prices || arms) && whole > left_s(t) && !t->o.keep) {
        f->code = fail(GS_FAILED,
                       "tune: %s about %s, which is more than the %s that are left: use --minutes "
                       "%.0f; settings and their proof need --minutes %.0f",
                       prices ? "the price takes" : "a setting takes", HUMAN_TIME(whole),
                       HUMAN_TIME(fmax(0, left_s(t))), ceil((spent + 1.1 * whole) / 60), all);
        return;
    }
    f->time_told = r->step_s >= 0.5 || !prices;
    if (r->step_s >= 0.5 && prices)
        say("tune: the price takes about %s", HUMAN_TIME(whole));
    if (kept < arms)
        say("tune: %zu of %zu settings can be compared in the time; all%s: --minutes %.0f; others: "
            "--only",
            kept, arms, reserve_s(t, r) > 0 ? " and a proof" : "", all);
}

/* Short steps: once two blocks are over, since arms are not equally long, and blocks vary. Losers leave
 * before the last block. */
static void tell_time(struct first *f, const struct visits *all)
{
    double began[3] = {INFINITY, INFINITY, INFINITY};
    int64_t first = INT64_MAX; /* it is not 0 if another step was found after some blocks */
    for (size_t i = 0; i < all->n; i++)
        first = all->v[i].block < first ? all->v[i].block : first;
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].block < first + 3) {
            double *at = &began[all->v[i].block - first];
            *at = fmin(*at, all->v[i].at);
        }
    if (f->time_told || isinf(began[0]) || isinf(began[2]))
        return;
    f->time_told = true;
    tell("tune: the price takes about %s",
         HUMAN_TIME((BLOCKS_MIN - 0.5) * (began[2] - began[0]) / 2));
}

/* Other programs may have made the blocks longer than was announced. Then the price goes first. */
static void make_room(struct first *f, const struct visits *all)
{
    struct tune *t = f->t;
    size_t blocks = blocks_of(all);
    double visit = (all->v[all->n - 1].at - all->v[0].at) / fmax(1, (double)all->n - 1);
    if (f->price_done || !has_price(t) || !blocks || blocks >= BLOCKS_MIN || arms_in(f) <= 3 ||
        visit * (double)(arms_in(f) * (BLOCKS_MIN - blocks)) < left_s(t))
        return;
    f->less = true;
    for (size_t i = 1; i < t->race.set.n; i++)
        if (t->race.v[i].in[IN_JOB])
            leave_untried(t, i);
    tell("tune: steps have become longer than at first, so only the price is taken in the time");
}

/* A copy with nothing changed must be as fast as the job's own library. */
static void judge_control(struct tune *t, const struct visits *all)
{
    if (t->control_known || only_measures(t) || !visits_have(all, "control"))
        return;
    struct effect e = arm_effect(all, ANY_LAUNCH, "control");
    if (e.launches < BLOCKS_MIN)
        return;
    double tol = t->link == TUNE_SOCKET || t->link == TUNE_MPI ? 0.03 : 0.01;
    bool differs = e.lo > tol || e.hi < -tol, same = fmax(fabs(e.lo), fabs(e.hi)) < tol;
    if (!differs && !same && e.launches < BLOCKS_MOST)
        return;
    t->control_known = true;
    if (!differs)
        return;
    t->trusted = false;
    tell("tune: a copy of %s with nothing changed is %.1f%% %s in this job, so copies are not used",
         t->link == TUNE_MPI ? "a communicator" : "NCCL", 100 * fabs(expm1(e.value)),
         e.value > 0 ? "slower" : "faster");
    by_launches(t);
}

/* No setting can gain `worth`. */
static bool worthless(const struct tune *t)
{
    return !only_measures(t) && t->price.known && t->price.none.hi < t->race.worth;
}

static void judge_dead(struct tune *t, const struct journals *j)
{
    for (size_t k = 0; k < j->n_arms; k++) {
        size_t i = setting_of(t, j->arms[k].id);
        struct race_entry *e = &t->race.v[i];
        if (!*j->arms[k].why || !i || e->dead)
            continue;
        e->dead = true;
        e->in[IN_JOB] = false;
        AUTO_FREE char *words = tune_setting_words(&t->race.set.v[i]);
        tell("tune: %s: cannot be compared in the job: %s", words, j->arms[k].why);
        if (strstr(j->arms[k].why, "memory") && !e->fixed)
            e->in[IN_LAUNCHES] = true; /* a launch of its own may have it */
    }
}

static void first_progress(const struct first *f, const struct visits *all)
{
    struct tune *t = f->t;
    size_t open = race_left(&t->race, IN_JOB);
    AUTO_TEXT struct text text = {0};
    text_addf(&text, "block %zu", blocks_of(all) + 1);
    if (open)
        text_addf(&text, ", %zu setting%s left", open, open == 1 ? " is" : "s are");
    if (t->price.blocks > 1)
        text_addf(&text, "; communication costs about %.0f%%", 100 * t->price.none.value);
    progress(t, "first launch", text.s);
}

/* As soon as it is known; it may become narrower. */
static void tell_price(struct first *f)
{
    const struct price_answer *price = &f->t->price;
    if (f->price_told || !price->known)
        return;
    f->price_told = true;
    AUTO_FREE char *sentence = price_sentence(price);
    tell("tune: of this launch: %s", sentence);
}

static void name_arms(const struct tune *t, struct visits *all)
{
    for (size_t i = 0; i < all->n; i++) {
        size_t k = setting_of(t, all->v[i].arm);
        if (k)
            xstrset(&all->v[i].arm, t->race.set.v[k].label);
    }
}

/* True: they are decided. */
static bool judge_settings(struct tune *t, const struct visits *all)
{
    if (only_measures(t))
        race_measure(&t->race, IN_JOB, all);
    return !only_measures(t) && race_judge(&t->race, IN_JOB, all);
}

/* It may still find one, so the job goes on. */
static void tell_stepless(struct first *f, const struct journals *j)
{
    if (f->stepless_told || j->step || j->seen.calls < STEPLESS_CALLS || journals_only_send(j))
        return;
    f->stepless_told = true;
    tell("tune: no step is found yet: the sequence of %lld collectives of a rank has not repeated "
         "so far. If the job has no steps that repeat, let it print lines such as 'step time: 12.3 "
         "ms': settings are then compared in launches",
         (long long)j->seen.calls);
}

static bool first_enough(void *ctx, struct launch *l)
{
    struct first *f = ctx;
    struct tune *t = f->t;
    struct launched *r = l->r;
    const struct journals *j = &r->journals;
    double now = clock_now_s(), age = now - l->began;
    name_arms(t, &r->journals.visits);
    if (!f->arms_told)
        give_arms(f, l);
    if (f->code || (j->captured && !j->visits.n))
        return true;
    if (hangs(l))
        return true;
    if (!j->visits.n && f->made_at > 0 && now > f->made_at + UNSEEN_S)
        tell_stepless(f, j);
    if (!j->visits.n) { /* by lines, only if no step can be found */
        bool alone = !j->files && j->alone && age > 3, over = j->ranks && j->over >= j->ranks;
        bool lines = r->n >= 6 && r->line_s > 0;
        bool sends = journals_only_send(j);
        bool wait = j->files && !over && !sends && age < 60 + 10 * r->line_s;
        if (f->unseen_at <= 0 && (r->gloo || (sends && f->made_at > 0)))
            f->unseen_at = now;
        bool unseen =
            f->unseen_at > 0 && !r->n && age > UNSEEN_S && now > f->unseen_at + UNSEEN_S / 2;
        return alone || (over && !lines) || (lines && !wait && age > 2) || unseen || age > FIRST_S;
    }
    if (!r->n)
        return left_s(t) <= 0;
    if (!f->told)
        announce(f, r);
    if (f->code)
        return true;
    tell_time(f, &j->visits);
    judge_dead(t, j);
    l->r->journals.visits.periods = t->periods;
    price_from(&t->price, &j->visits);
    size_t blocks = blocks_of(&j->visits);
    size_t most = only_measures(t) ? BLOCKS_MIN : BLOCKS_MOST;
    f->price_done =
        !has_price(t) || (!only_measures(t) && price_enough(&t->price)) || blocks >= most;
    tell_price(f);
    make_room(f, &j->visits);
    judge_control(t, &j->visits);
    f->settings_done = judge_settings(t, &j->visits) || blocks >= most;
    tell_left(f, l);
    first_progress(f, &j->visits);
    bool known = has_price(t) ? f->price_done || t->price.known : blocks >= BLOCKS_MIN;
    double need = known ? reserve_s(t, r) : 0;
    return (f->price_done && f->settings_done) || worthless(t) ||
           (j->ranks && j->over >= j->ranks) || left_s(t) < need;
}

static void take_facts(struct tune *t, const struct launched *r)
{
    t->ranks = r->journals.ranks;
    t->nodes = r->journals.hosts;
    t->base_memory_B = r->memory_B;
    t->captured = r->journals.captured && !r->by_calls;
    t->job.step_s = r->step_s;
    t->job.calls = r->by_calls ? r->journals.step_calls : 0;
    t->job.bytes = r->by_calls ? r->journals.step_B : 0;
    t->start_s = r->by_calls ? r->begun_s + BLOCKS_LATER * 3 * visit_s(r->step_s) : r->took_s;
}

/* A launch of the proof: the job as it is twice, and the winner. */
static double proof_launch_s(const struct tune *t)
{
    double base_s = t->base_s > 0 ? t->base_s : t->start_s;
    return fmax((PROOF_STARTS - 1) * base_s + t->start_s, 0.01);
}

#define FIRST_MOST 3 /* first launches, if the job hangs in arms */

/* *again: it hung in an arm, and another one without it fits. *open: the job ended before its settings were decided. */
static int first_launch(struct tune *t, int number, bool *again, bool *open)
{
    *again = false;
    AUTO(launched_free) struct launched r = {0};
    struct first f = {.t = t};
    double budget = left_s(t);
    struct launch l = {.job = &t->job,
                       .seed = t->o.seed.value,
                       .timeout_s = fmax(20, budget),
                       .ask_link = true,
                       .enough = first_enough,
                       .ctx = &f};
    CHECK(open_log(t, t->race_dir, number));
    look_at_load(t);
    progress(t, "first launch", "");
    int code = launch_run(&l, &as_is, &r);
    end_progress();
    free(f.left);
    code = code ? code : f.code;
    if (!code && r.by_calls && !t->o.no_price) { /* it may have ended with its last blocks */
        price_from(&t->price, &r.journals.visits);
        tell_price(&f);
    }
    t->stopped = t->stopped || r.stopped;
    if (code || t->stopped)
        return code;
    if (!r.journals.files && r.journals.alone)
        return fail(GS_FAILED, "tune: the job has one rank, which does not communicate: "
                               "start it with two or more");
    bool hang = r.kind && !strcmp(r.kind, "hang"), hung = hang && r.n;
    bool named = (hang || *r.crash) && leave_hung(t, &r);
    *again = named && !t->price.known && number < FIRST_MOST && left_s(t) > 2 * r.begun_s + 10;
    if (*again) { /* its settings are made anew */
        free_settings(t);
        return GS_OK;
    }
    if (r.kind && !hung) {
        t->log_named = lseek(t->job.log, 0, SEEK_END) > 0;
        if (!t->log_named)
            return fail(GS_FAILED, "tune: the command: %s: %s; it printed nothing", r.kind, r.why);
        return fail(GS_FAILED, "tune: the command: %s: %s; its output is in %s/launch-%02d.01.log",
                    r.kind, r.why, t->race_dir, number);
    }
    if (!named && (hung || *r.crash))
        say("tune: the job %s as it is: %s", hung ? "hung" : "crashed", hung ? r.why : r.crash);
    if (!f.arms_told) {
        t->link = r.link;
        t->nccl = r.nccl;
        t->torch = r.torch;
        t->nodes = r.journals.hosts;
        CHECK(make_settings(t, NULL));
    }
    take_facts(t, &r);
    if (!r.by_calls) {
        t->line_s = r.line_s;
        by_launches(t);
        say("tune: a step takes %s (by the lines that it prints); %s%s", HUMAN_TIME(r.step_s),
            t->link ? "the job communicates over " : "no communication of NCCL was seen",
            t->link ? tune_link_words[t->link] : "");
        if (!t->captured && !t->o.no_price) {
            AUTO_FREE char *why = t->job.object ? launch_unseen(&t->job, &r)
                                                : xstrdup(JOB_OBJECT " is not beside gradsync");
            say("tune: no price: %s", why);
        }
        return write_state(t);
    }
    name_arms(t, &r.journals.visits);
    t->priced = true;
    *open = only_measures(t) || (r.ended && !*r.crash && !f.settings_done &&
                                 race_left(&t->race, IN_JOB) && !worthless(t));
    t->start_s = only_measures(t) ? r.took_s : t->start_s;
    bool others = false;
    for (size_t i = 0; i < r.journals.visits.n && !others; i++)
        others = strcmp(r.journals.visits.v[i].arm, TUNE_BASELINE) != 0;
    return others ? record_visits(t, &r, !hung) : write_state(t);
}

/* Time that the shortest proof needs. */
static double least_proof_s(const struct tune *t)
{
    return only_measures(t) ? 0 : fmin(2 * proof_launch_s(t), 0.6 * t->minutes * 60);
}

static bool again_enough(void *ctx, struct launch *l)
{
    struct tune *t = ctx;
    const struct journals *j = &l->r->journals;
    judge_dead(t, j);
    return hangs(l) || blocks_of(&j->visits) >= (only_measures(t) ? BLOCKS_MIN : BLOCKS_MOST) ||
           (j->ranks && j->over >= j->ranks) || left_s(t) < least_proof_s(t);
}

/* The job ended before its settings were decided. *open: another launch may decide them. */
static int first_again(struct tune *t, bool *open)
{
    AUTO(launched_free) struct launched r = {0};
    AUTO_FREE char *arms = arms_text(t, has_price(t) ? 1 : 0);
    struct visits all = {0};
    struct launch l = {.job = &t->job,
                       .arms = arms,
                       .seed = t->o.seed.value + t->price_launches,
                       .timeout_s = fmax(1, until_end_s(t)),
                       .enough = again_enough,
                       .ctx = t};
    *open = false;
    CHECK(open_log(t, t->race_dir, (int)t->price_launches + 1));
    AUTO_FREE char *stage = xstrfmt("first launch, again: launch %ld", t->price_launches + 1);
    progress(t, stage, "");
    CHECK(launch_run(&l, &as_is, &r));
    t->stopped = t->stopped || r.stopped;
    size_t blocks = blocks_of(&r.journals.visits);
    if (t->stopped)
        return GS_OK;
    if (r.kind || *r.crash) {
        end_progress();
        if (!leave_hung(t, &r))
            say("tune: launch %ld is not counted: %s: %s; its output is in %s/launch-%02ld.01.log",
                t->price_launches + 1, r.kind ? r.kind : "crash", r.kind ? r.why : r.crash,
                t->race_dir, t->price_launches + 1);
        return GS_OK;
    }
    if (!blocks)
        return GS_OK;
    name_arms(t, &r.journals.visits);
    CHECK(record_visits(t, &r, true));
    CHECK(job_recording_visits(&all, t->price_dir));
    judge_control(t, &all);
    *open = !judge_settings(t, &all) && (r.ended || only_measures(t)) && !worthless(t);
    visits_free(&all);
    return GS_OK;
}

/* Says which setting won inside the job. */
static int first_winner(struct tune *t)
{
    struct visits all = {0};
    if (!t->price_dir || t->stopped || only_measures(t))
        return write_state(t);
    CHECK(job_recording_visits(&all, t->price_dir));
    t->winner = race_winner(&t->race, IN_JOB, &all);
    visits_free(&all);
    if (t->winner) {
        const struct effect *e = &t->race.v[t->winner].effect;
        AUTO_FREE char *words = tune_setting_words(&t->race.set.v[t->winner]);
        say("tune: in %s %s: %s: steps %.1f%% shorter [%.1f, %.1f]",
            t->price_launches > 1 ? "these launches" : "this launch",
            e->hi < 0 ? "one setting is best" : "no setting is shown to gain; the best so far",
            words, -100 * expm1(e->value), -100 * expm1(e->hi), -100 * expm1(e->lo));
    }
    return write_state(t);
}

static int first(struct tune *t)
{
    bool again = true, open = false;
    int code = GS_OK;
    t->trusted = true;
    for (int number = 1; again && !code; number++)
        code = first_launch(t, number, &again, &open);
    while (!code && open && !t->stopped && left_s(t) > t->start_s + least_proof_s(t))
        code = first_again(t, &open);
    end_progress();
    return code ? code : first_winner(t);
}

/* ---- the price by whole launches ---- */

/* With communication and without. */
#define PRICE_PAIRS 3

/* Nothing can be switched in a CUDA graph after it was captured. */
static int price_by_launches(struct tune *t)
{
    if (2 * PRICE_PAIRS * t->start_s > left_s(t) / 2) {
        say("tune: no price: the job captures its collectives in a CUDA graph, so its price takes "
            "%d launches of %s: use --minutes %.0f",
            2 * PRICE_PAIRS, HUMAN_TIME(t->start_s),
            ceil((t->minutes * 60 - left_s(t) + 4 * PRICE_PAIRS * t->start_s) / 60));
        return GS_OK;
    }
    say("price: the job captured its collectives in a CUDA graph, so whole launches are compared; "
        "those without communication are thrown away: their results are worthless");
    int code = record_make_run(t->o.out, t->o.platform, JOB_TUNE, JOB_PRICE, &t->price_dir);
    char *part[] = {(char *)LAUNCH_PART "=none"};
    const struct tune_setting none = {.label = (char *)"none", .variables = {part, 1}};
    const struct turn turns[] = {{&as_is, 0}, {&none, 0}, {&as_is, 0}};
    for (int i = 1; i <= PRICE_PAIRS && !code && !t->stopped; i++) {
        AUTO_FREE char *what = xstrfmt("price, launch %d of %d", i, PRICE_PAIRS);
        code = run_turns(t, t->price_dir, i, JOB_PRICE, what, turns + i % 2, 2, until_end_s);
    }
    end_progress();
    TRY(code, manifest_write(t->price_dir));
    TRY(code, price_read(&t->price, t->price_dir));
    t->priced = !t->stopped;
    return code ? code : write_state(t);
}

/* ---- settings that only a launch can change ---- */

/* Time for the race: what the shortest proof does not need. */
static double race_left_s(const struct tune *t)
{
    return left_s(t) + 0.05 * 60 * t->minutes - 2 * proof_launch_s(t);
}

/* Minutes that a round of these settings and the proof would take. */
static double minutes_wanted(const struct tune *t, size_t settings)
{
    double starts = 2 * (double)(settings + 1) + (double)t->race.proofs * PROOF_STARTS;
    return ceil((t->minutes * 60 - left_s(t) + starts * t->start_s) / 60);
}

static int read_starts(struct tune *t)
{
    visits_free(&t->starts);
    return job_recording_visits(&t->starts, t->race_dir);
}

/* At random, with too little time without the rows at the end of the table. Settings that were measured in this round, before
 * an interruption, are left out. */
static int race_round(struct tune *t)
{
    AUTO_FREE struct turn *turns = xcalloc(t->race.set.n, sizeof *turns);
    AUTO_FREE size_t *order = xcalloc(t->race.set.n, sizeof *order);
    size_t left = race_left(&t->race, IN_LAUNCHES);
    AUTO_FREE char *what =
        xstrfmt("launches, round %d, %zu setting%s left", t->round + 1, left, left == 1 ? "" : "s");
    struct rng rng;
    size_t n = 0;
    for (size_t i = 0; i < t->race.set.n; i++)
        if ((i == 0 || t->race.v[i].in[IN_LAUNCHES]) &&
            !visit_of(&t->starts, t->round + 1, 0, t->race.set.v[i].label, 0))
            order[n++] = i;
    rng_stream(&rng, (uint64_t)t->o.seed.value, (uint64_t)t->round);
    rng_shuffle(&rng, order, n);
    for (size_t i = (n + 1) / 2; i < n; i++)
        if (order[i] == 0) { /* into the first half: the time may end */
            order[i] = order[n - 1 - i];
            order[n - 1 - i] = 0;
        }
    for (size_t i = 0; i < n; i++)
        turns[i].setting = &t->race.set.v[order[i]];
    int code = run_turns(t, t->race_dir, t->round + 1, "race", what, turns, n, race_left_s);
    TRY(code, read_starts(t));
    return code;
}

/* There is no time for the settings after the first n. */
static void cut_after(struct tune *t, size_t n)
{
    for (size_t i = 1; i < t->race.set.n; i++) {
        struct race_entry *e = &t->race.v[i];
        if (!e->in[IN_LAUNCHES] || visits_have(&t->starts, t->race.set.v[i].label))
            continue;
        e->untried = !n;
        e->in[IN_LAUNCHES] = n > 0;
        n -= n > 0;
    }
}

static void cut_to_time(struct tune *t)
{
    double fit = fmax(0, race_left_s(t) / fmax(t->start_s, 0.1) - 1);
    size_t n = race_left(&t->race, IN_LAUNCHES);
    if (fit >= (double)n)
        return;
    cut_after(t, fit < 2 ? 0 : (size_t)fit);
    if (fit < 2)
        say("tune: a launch takes %s, so there is no time for %zu setting%s that a running job "
            "cannot change: they take --minutes %.0f",
            HUMAN_TIME(t->start_s), n, n == 1 ? "" : "s", minutes_wanted(t, n));
    else
        say("tune: %zu of %zu settings that need launches of their own fit into %.3g minutes; all: "
            "--minutes %.0f; others: --only",
            race_left(&t->race, IN_LAUNCHES), n, t->minutes, minutes_wanted(t, n));
}

static int run_race(struct tune *t)
{
    CHECK(read_starts(t));
    if (!t->starts.n && race_left(&t->race, IN_LAUNCHES))
        cut_to_time(t);
    if (race_left(&t->race, IN_LAUNCHES) && t->winner) /* it must win once more, against these */
        t->race.v[t->winner].in[IN_LAUNCHES] = !t->race.v[t->winner].fixed;
    int code = write_state(t);
    bool decided = t->round ? race_judge(&t->race, IN_LAUNCHES, &t->starts)
                            : !race_left(&t->race, IN_LAUNCHES);
    while (!code && !decided && !t->stopped && t->round < ROUNDS_MOST) {
        if (t->round &&
            race_left_s(t) < t->start_s * (double)(race_left(&t->race, IN_LAUNCHES) + 1))
            break;
        code = race_round(t);
        if (code || t->stopped)
            break;
        cut_after(t, 0);
        const struct visit *base = visit_of(&t->starts, t->round + 1, 0, TUNE_BASELINE, 0);
        if (!base || !base->most_ns) {
            say("tune: the job as it is %s in round %d of the launches",
                base ? "failed" : "was not measured in the time", t->round + 1);
            break;
        }
        decided = race_judge(&t->race, IN_LAUNCHES, &t->starts);
        t->round++;
        code = write_state(t);
    }
    end_progress();
    if (t->stopped || code)
        return code ? code : write_state(t);
    size_t won = race_winner(&t->race, IN_LAUNCHES, &t->starts);
    t->winner = won ? won : t->winner;
    t->raced = true;
    return write_state(t);
}

/* ---- the proof ---- */

static const struct tune_setting *proof_setting(const struct tune *t, size_t k)
{
    return k == PROOF_STARTS - 1 ? &t->race.set.v[t->winner] : &as_is;
}

/* NULL: it was not started. */
static const struct visit *proof_start(const struct tune *t, const struct visits *all, int launch,
                                       size_t k)
{
    return visit_of(all, launch, 0, proof_setting(t, k)->label, k == 1);
}

static double proof_left_s(const struct tune *t)
{
    return until_end_s(t) - 0.5 * t->start_s;
}

/* Starts only what was not measured before an interruption. */
static int proof_launch(struct tune *t, int launch, const struct visits *earlier)
{
    struct rng rng;
    size_t order[PROOF_STARTS] = {0, 1, 2}, n = 0;
    struct turn turns[PROOF_STARTS];
    rng_stream(&rng, (uint64_t)t->o.seed.value + 1, (uint64_t)launch);
    rng_shuffle(&rng, order, PROOF_STARTS);
    for (size_t i = 0; i < PROOF_STARTS; i++)
        if (!proof_start(t, earlier, launch, order[i]))
            turns[n++] = (struct turn){proof_setting(t, order[i]), order[i] == 1};
    AUTO_FREE char *what = xstrfmt("proof, launch %d of %ld", launch, t->race.proofs);
    return n ? run_turns(t, t->proof_dir, launch, "proof", what, turns, n, proof_left_s) : GS_OK;
}

/* Launches that do not count, and why. A launch without its second start of the job as it is counts with the first. */
static char *proof_uncounted(const struct tune *t, const struct visits *all)
{
    struct text text = {0};
    int begun = 0;
    for (int launch = 1; launch <= t->race.proofs; launch++) {
        const struct visit *base = proof_start(t, all, launch, 0),
                           *last = proof_start(t, all, launch, PROOF_STARTS - 1);
        AUTO_FREE char *name = name_of(base && !base->most_ns ? &as_is : proof_setting(t, 2));
        begun = base || last ? launch : begun;
        if ((base && !base->most_ns) || (last && !last->most_ns))
            text_addf(&text, "%slaunch %d: %s failed", text.len ? "; " : "", launch, name);
        else if ((base || last) && !(base && last))
            text_addf(&text, "%slaunch %d: the time was over", text.len ? "; " : "", launch);
    }
    if (begun < t->race.proofs)
        text_addf(&text, "%s%ld not begun, as there was no time", text.len ? "; " : "",
                  t->race.proofs - begun);
    return text.s;
}

static int judge_proof(struct tune *t)
{
    struct comparison c = {0};
    struct visits all = {0};
    int code = compare_within_run(&c, t->proof_dir, NULL);
    TRY(code, job_recording_visits(&all, t->proof_dir));
    t->proof = (struct effect){.value = NAN, .lo = NAN, .hi = NAN};
    if (!code && c.n)
        comparison_solve(&c, 1);
    AUTO_FREE char *uncounted = proof_uncounted(t, &all);
    const char *note = NULL; /* about launches of other kinds, or of too few blocks */
    for (size_t i = 0; i < c.n && !code; i++) /* one, unless the launches are of several kinds */
        if (c.v[i].effect.launches > t->proof.launches) {
            t->proof = c.v[i].effect;
            t->floor = c.v[i].floor;
            t->proven = race_proven(&t->proof, c.v[i].floor, t->race.worth);
            note = c.v[i].note;
        }
    free(t->uncounted);
    t->uncounted = uncounted && note   ? xstrfmt("%s; %s", uncounted, note)
                   : uncounted || note ? xstrdup(note ? note : uncounted)
                                       : NULL;
    visits_free(&all);
    comparison_free(&c);
    return code;
}

static int run_proof(struct tune *t)
{
    struct visits earlier = {0};
    int code = GS_OK;
    if (!t->proof_dir)
        code = record_make_run(t->o.out, t->o.platform, JOB_TUNE, "proof", &t->proof_dir);
    else
        code = job_recording_visits(&earlier, t->proof_dir);
    TRY(code, write_state(t));
    for (int i = 1; i <= t->race.proofs && !code && !t->stopped; i++)
        if (proof_start(t, &earlier, i, 0) ||
            until_end_s(t) > (i < 3 ? 0.5 : 1) * proof_launch_s(t))
            code = proof_launch(t, i, &earlier);
    end_progress();
    visits_free(&earlier);
    if (!t->stopped) {
        TRY(code, manifest_write(t->proof_dir));
        TRY(code, judge_proof(t));
    }
    return code ? code : write_state(t);
}

/* Without a winner: launches of the job as it is, so that the price does not rest on one. */
static int price_again(struct tune *t)
{
    int code = GS_OK, failed = 0;
    while (!code && takes_price(t) && t->price_launches < PROOF_LEAST + 1 && !interrupted(t) &&
           left_s(t) > t->start_s) {
        AUTO(launched_free) struct launched r = {0};
        AUTO_FREE char *what =
            xstrfmt("price, launch %ld of %d", t->price_launches + 1, PROOF_LEAST + 1);
        code = open_log(t, t->race_dir, (int)t->price_launches + 1);
        TRY(code, start(t, what, &as_is, true, &r));
        if (code || r.stopped)
            return code;
        if (r.kind) {
            tell("tune: %s: %s: %s", what, r.kind, r.why);
            if (failed++)
                return GS_OK;
        } else
            code = record_price(t, &r);
    }
    end_progress();
    return code;
}

/* ---- the answer ---- */

static size_t count_tried(const struct tune *t)
{
    size_t tried = 0;
    for (size_t i = 1; i < t->race.set.n; i++)
        tried += t->race.v[i].failed || (!t->race.v[i].untried && race_is_measured(&t->race.v[i]));
    return tried;
}

/* The step of the job as it is, over all launches. */
static double baseline_s(const struct tune *t)
{
    const char *const dirs[] = {t->race_dir, t->proof_dir};
    double sum = 0, n = 0;
    if (t->price.known)
        return t->price.step_s;
    for (size_t k = 0; k < COUNT(dirs); k++) {
        struct visits all = {0};
        if (dirs[k])
            job_recording_visits(&all, dirs[k]);
        for (size_t i = 0; i < all.n; i++)
            if (!strcmp(all.v[i].arm, TUNE_BASELINE) && all.v[i].most_ns) {
                sum += log(visit_step_s(&all.v[i]));
                n++;
            }
        visits_free(&all);
    }
    return n > 0 ? exp(sum / n) : t->line_s > 0 ? t->line_s : t->job.step_s;
}

/* "price RUN, settings RUN, proof RUN". names: gets the names of the runs, which then stand in place of their paths. The
 * caller frees it. */
static char *runs_text(const struct tune *t, struct words *names)
{
    static const char *const what[] = {"price", "settings", "proof"};
    const char *const dirs[] = {t->price_dir, t->race_dir, t->proof_dir};
    struct text text = {0};
    for (size_t i = 0; i < COUNT(dirs); i++) {
        const char *run = dirs[i] && names ? path_name(dirs[i]) : dirs[i];
        if (run)
            text_addf(&text, "%s%s %s", text.len ? ", " : "", what[i], run);
        if (run && names)
            words_add(names, run);
    }
    return text.s;
}

static struct tune_result result_of(const struct tune *t)
{
    return (struct tune_result){.race = &t->race,
                                .price = &t->price,
                                .step_s = baseline_s(t),
                                .winner = t->winner,
                                .proof = t->proof_dir ? &t->proof : NULL,
                                .proven = t->proven};
}

static void say_answer(const struct tune *t)
{
    if (t->load > 0)
        say("tune: other programs were busy on this host: a load average of %.1f on %ld processors",
            t->load, sysconf(_SC_NPROCESSORS_ONLN));
    if (t->price_dir && (has_price(t) || t->price.known))
        tune_say_price(&t->price, t->other_share, t->all_B);
    if (only_measures(t))
        printf("Settings in the running job, in %ld launch%s; none was to be proven.\n",
               t->price_launches, t->price_launches == 1 ? "" : "es");
    else if (tune_say_worthless(&t->price, t->race.worth))
        ;
    else if (t->winner && t->race.v[t->winner].fixed)
        tune_say_inside(&t->race.set.v[t->winner], &t->race.v[t->winner].effect);
    else if (t->winner && t->proven)
        tune_say_proven(&t->race.set.v[t->winner], &t->proof, t->uncounted, &t->price,
                        !strcmp(t->o.emit, "pytorch"));
    else
        tune_say_nothing(&t->race, count_tried(t), t->winner ? t->winner : race_best_open(&t->race),
                         t->winner && t->proof_dir ? &t->proof : NULL, t->floor, t->uncounted);
    const struct tune_result r = result_of(t);
    tune_bars(&r);
}

static int answer(struct tune *t)
{
    if (t->stopped) {
        say("tune: interrupted; the measurements are kept; continue with: gradsync resume %s",
            SHELL_WORD(t->race_dir));
        return GS_FAILED;
    }
    say_answer(t);
    say("tune: took %s", HUMAN_TIME(t->spent_s + clock_now_s() - t->began));
    int code = manifest_write(t->race_dir);
    AUTO_FREE char *runs = runs_text(t, NULL);
    say("tune: recordings: %s", runs);
    return code;
}

static int stages(struct tune *t)
{
    if (!t->job.step_s)
        CHECK(first(t));
    else if (t->job.calls && !t->raced && !t->winner) /* interrupted before this was known */
        CHECK(first_winner(t));
    if (!t->stopped && t->captured && !t->priced && !t->o.no_price)
        CHECK(price_by_launches(t));
    if (!t->stopped && !t->raced && !worthless(t) && !only_measures(t))
        CHECK(run_race(t));
    bool proves = t->winner && !t->race.v[t->winner].fixed && !worthless(t);
    if (!t->stopped && proves && !t->proof_dir && until_end_s(t) <= 0.5 * proof_launch_s(t)) {
        double whole = (double)t->race.proofs * proof_launch_s(t);
        say("tune: there is no time for a proof, which takes about %s: use --minutes %.0f",
            HUMAN_TIME(whole), ceil((t->minutes * 60 - left_s(t) + whole) / 60));
        proves = false;
    }
    if (!t->stopped && proves)
        CHECK(run_proof(t));
    else if (!t->stopped && !only_measures(t))
        CHECK(price_again(t));
    return answer(t);
}

/* ---- begin ---- */

static bool read_share(const char *text, double *share)
{
    return units_parse_real(text, share) && *share >= 0 && *share < 1;
}

static int read_options(struct tune *t)
{
    struct tune_options *o = &t->o;
    double between;
    o->minutes = o->minutes ? o->minutes : o->keep ? "2" : "10";
    if (o->proofs.value == 1)
        return fail(GS_USAGE, "tune: --proof 1: one launch proves nothing: use 2 or more, or 0 to "
                              "measure all settings without a proof");
    if (o->keep && !o->proofs.value)
        return fail(GS_USAGE, "tune: --proof 0 measures settings in launches that are thrown away: "
                              "leave out --keep");
    if (o->keep && strcmp(o->keep, "yes") &&
        (!units_parse_real(o->keep, &between) || !(between > 0)))
        return fail(
            GS_USAGE,
            "tune: --keep '%s': must be the minutes between checkpoints of the job, or 'yes'",
            o->keep);
    if (o->keep && o->launches)
        return fail(GS_USAGE, "tune: --keep compares inside the job only: without --launches");
    if (!units_parse_real(o->minutes, &t->minutes) || !(t->minutes > 0) || t->minutes > 10000)
        return fail(GS_USAGE,
                    "tune: --minutes '%s': must be a number above 0, at most 10000, e.g. 1.5",
                    o->minutes);
    t->race.proofs = o->proofs.value;
    if (!read_share(o->worth, &t->race.worth))
        return fail(GS_USAGE, "tune: --worth '%s': must be a share of the step, e.g. 1%%",
                    o->worth);
    if (!read_share(o->memory, &t->memory))
        return fail(GS_USAGE, "tune: --memory '%s': must be a share, e.g. 10%%", o->memory);
    if (strcmp(o->emit, "env") && strcmp(o->emit, "pytorch"))
        return fail(GS_USAGE, "tune: --emit '%s': must be env or pytorch", o->emit);
    if (o->library && access(o->library, R_OK))
        return fail(GS_USAGE,
                    "tune: --library '%s': cannot be read: %s; give the path of a libnccl.so",
                    o->library, strerror(errno));
    return GS_OK;
}

static int prepare(struct tune *t)
{
    CHECK(job_recording_folder(t->o.platform, t->o.out));
    t->began = clock_now_s();
    t->job.out = realpath(t->o.out, NULL);
    t->job.command = command_text(t->command);
    t->job.one_word = !t->command[1];
    t->job.interrupts = &t->interrupts;
    t->job.object = job_beside(JOB_OBJECT, "../lib/gradsync/" JOB_OBJECT);
    t->job.audit = job_beside(JOB_AUDIT, "../lib/gradsync/" JOB_AUDIT);
    t->job.python = job_beside("../runner/job/torch", "../share/gradsync/torch");
    return t->job.out ? interrupts_catch(&t->interrupts) : fail_file(t->o.out, "read", errno);
}

static void release(struct tune *t)
{
    interrupts_release(&t->interrupts);
    if (t->job.log >= 0)
        close(t->job.log);
    free(t->job.command);
    free(t->job.out);
    free(t->job.object);
    free(t->job.audit);
    free(t->job.python);
    free(t->race_dir);
    free(t->proof_dir);
    free(t->price_dir);
    json_decref(t->state);
    free(t->root);
    free(t->shown);
    free(t->uncounted);
    words_free(&t->inside_names);
    visits_free(&t->starts);
    free_settings(t);
}

/* ---- a real job, which goes on with the best setting ---- */

struct keeping {
    struct first first; /* the first member: the context of first_enough() */
    size_t kept;
    double at_s; /* when it was decided */
    double lost_s;
};

/* What making copies took, and the visits of all settings longer than the job's own steps would have. */
static double lost_s(const struct journals *j, double step_s)
{
    double lost = 0;
    for (size_t i = 0; i < j->n_arms; i++)
        lost += j->arms[i].made_s / (double)(j->files > 0 ? j->files : 1);
    for (size_t i = 0; i < j->visits.n; i++) {
        const struct visit *v = &j->visits.v[i];
        lost += (visit_step_s(v) - step_s) * (double)v->steps;
    }
    return lost;
}

static bool keep_enough(void *ctx, struct launch *l)
{
    struct keeping *k = ctx;
    struct tune *t = k->first.t;
    const struct launched *r = l->r;
    if (!r->journals.visits.n) /* the time of comparing begins with the first visit */
        t->began = clock_now_s();
    if (!first_enough(&k->first, l))
        return false;
    size_t i = setting_of(t, r->journals.turn);
    const char *turn = i ? t->race.set.v[i].label : r->journals.turn;
    if (r->kind && strcmp(r->kind, "hang"))
        say("tune: nothing more can be compared: %s", r->why);
    else if (r->kind)
        say("tune: no step of the job was seen for a while, in '%s'; if it hangs, end it: what it "
            "computed since its last checkpoint is lost%s%s%s",
            turn, strcmp(t->o.keep, "yes") ? ", at most " : "",
            strcmp(t->o.keep, "yes") ? t->o.keep : "", strcmp(t->o.keep, "yes") ? " minutes" : "");
    k->kept = r->kind ? 0 : race_measure(&t->race, IN_JOB, &r->journals.visits);
    if (k->kept && !(t->race.v[k->kept].effect.hi < log1p(-t->race.worth)))
        k->kept = 0; /* no launch proves it, so the whole interval must be a gain of interest */
    k->at_s = clock_now_s();
    k->lost_s = lost_s(&r->journals, r->step_s);
    AUTO_FREE char *id = xstrfmt("s%zu", k->kept);
    launch_tell(l, "keep", k->kept ? id : TUNE_BASELINE);
    AUTO_FREE char *cost = k->lost_s > 0 ? xstrfmt("comparing took %s", HUMAN_TIME(k->lost_s))
                                         : xstrdup("comparing took no time");
    if (k->kept) {
        const struct effect *e = &t->race.v[k->kept].effect;
        AUTO_FREE char *words = tune_setting_words(&t->race.set.v[k->kept]);
        say("tune: %s: steps %.1f%% shorter [%.1f, %.1f] in %d blocks of this job, which now goes "
            "on "
            "with it; %s",
            words, -100 * expm1(e->value), -100 * expm1(e->hi), -100 * expm1(e->lo), e->launches,
            cost);
    } else if (r->journals.visits.n && !r->kind && !count_tried(t))
        say("tune: the time was too short to compare a setting; the job goes on as it was");
    else if (r->journals.visits.n && !r->kind)
        say("tune: no setting of %zu makes the step shorter by more than %.3g%% for certain; the "
            "job goes on as it was; %s",
            count_tried(t), 100 * t->race.worth, cost);
    else if (!r->kind) {
        AUTO_FREE char *why = journals_why(&r->journals);
        say("tune: nothing can be compared in this job: %s", why);
    }
    return true;
}

static int keep_record(struct tune *t, struct launched *r)
{
    if (!r->journals.visits.n)
        return GS_OK;
    take_facts(t, r);
    name_arms(t, &r->journals.visits);
    CHECK(record_make_run(t->o.out, t->o.platform, JOB_TRIAL, "", &t->price_dir));
    const struct job_source s = source_of(t, t->price_dir, 1);
    CHECK(job_recording_trial(&r->journals, &s, r->watch, true));
    CHECK(manifest_write(t->price_dir));
    say("tune: recording: %s", t->price_dir);
    return GS_OK;
}

static int keep(struct tune *t)
{
    AUTO(launched_free) struct launched r = {0};
    struct keeping k = {.first = {.t = t}};
    t->o.no_price = t->trusted = job_has_terminal = true;
    CHECK(prepare(t));
    if (!t->job.object)
        return fail(GS_FAILED, "tune: " JOB_OBJECT " is not beside gradsync");
    interrupts_release(&t->interrupts); /* they are the job's */
    t->interrupts.fd = -1;
    struct launch l = {.job = &t->job,
                       .seed = t->o.seed.value,
                       .ask_link = !getenv("NCCL_DEBUG"),
                       .keep_s = t->minutes * 60,
                       .memory_share = t->memory,
                       .enough = keep_enough,
                       .ctx = &k};
    int code = launch_keep(&l, &as_is, &r);
    AUTO_FREE char *why = code || r.journals.visits.n ? NULL : journals_why(&r.journals);
    if (!code && k.kept)
        say("tune: the job ended %s after it went on with %s", HUMAN_TIME(clock_now_s() - k.at_s),
            t->race.set.v[k.kept].label);
    else if (!code && !(k.at_s > 0))
        say("tune: the job ended before %s%s", why ? "a step was seen: " : "a setting was chosen",
            why ? why : "");
    TRY(code, keep_record(t, &r));
    free(k.first.left);
    release(t);
    return code;
}

int tune_job(const struct tune_options *o, char **command)
{
    struct tune t = {.o = *o, .command = command, .job.log = -1, .interrupts.fd = -1};
    CHECK(read_options(&t));
    CHECK(command_find(*command));
    /* It also finds faults of the user's file, and that --only leaves nothing. */
    const struct tune_request all = {o, 0, TUNE_DDP | TUNE_FSDP | TUNE_PYTHON, 0};
    CHECK(tune_say_settings(&all, o->dry_run));
    if (o->dry_run) {
        if (tune_nvls_is_off())
            puts("NCCL_NVLS_ENABLE=0 is set and stays: tune does not switch NVLS on.");
        printf("Of these, tune tries the ones for the link of the job.\n"
               "It takes at most %.3g minute%s: the first launch, which takes the price and "
               "compares settings, "
               "launches for what a running job cannot change, and a proof of %ld launches.\n",
               t.minutes, t.minutes == 1 ? "" : "s", o->proofs.value);
        return GS_OK;
    }
    if (o->keep)
        return keep(&t);
    int code = prepare(&t);
    TRY(code, record_make_run(o->out, o->platform, JOB_TUNE, "tune", &t.race_dir));
    TRY(code, begun_lock(t.race_dir));
    TRY(code, write_state(&t));
    TRY(code, stages(&t));
    if (code && t.race_dir && !t.job.step_s && !t.stopped && !t.log_named)
        files_remove_tree(t.race_dir); /* nothing of it is of use */
    release(&t);
    return code;
}

/* ---- resume ---- */

bool tune_is_run(const char *dir)
{
    AUTO_FREE char *path = xstrfmt("%s/" TUNE_STATE, dir);
    return !access(path, F_OK);
}

static bool is_texts(const json_t *list)
{
    const json_t *v;
    size_t i;
    bool good = !list || json_is_array(list);
    json_array_foreach(list, i, v)
    {
        good = good && json_is_string(v);
    }
    return good;
}

/* Takes the state, which may come from somebody else. False: `why`. */
static bool take_state(struct tune *t, char *why, size_t n)
{
    json_t *command = json_incref(json_object_get(t->state, "command"));
    const json_t *settings = json_object_get(t->state, "settings"),
                 *changes = json_object_get(t->state, "changes"),
                 *marks = json_object_get(t->state, "flags");
    static const char *const lists[] = {"command", "changes", "settings"};
    struct tune_settings *set = &t->race.set;
    size_t count = json_array_size(settings);
    /* Words of the command may hold any character, such as the line feeds of a script. */
    json_object_del(t->state, "command");
    bool good = json_names_good(t->state, why, n);
    json_object_set_new(t->state, "command", command);
    if (!good)
        return false;
    for (size_t i = 0; i < COUNT(lists); i++)
        if (!is_texts(json_object_get(t->state, lists[i]))) {
            snprintf(why, n, "'%s' is no list of texts", lists[i]);
            return false;
        }
    if (!json_array_size(command)) {
        snprintf(why, n, "it has no command");
        return false;
    }
    for (size_t i = 0; i < COUNT(members); i++) {
        const json_t *v = json_object_get(t->state, members[i].name);
        if (v && !member_read(t, &members[i], v)) {
            snprintf(why, n, "'%s' is out of range, or of another type", members[i].name);
            return false;
        }
    }
    if (!t->o.platform || !*t->o.platform) {
        snprintf(why, n, "it has no platform");
        return false;
    }
    if (t->winner > count || count > SETTINGS_MOST) {
        snprintf(why, n, "%s",
                 count > SETTINGS_MOST ? "it has too many settings"
                                       : "'winner' is none of its settings");
        return false;
    }
    t->race.v = xcalloc(count + 1, sizeof *t->race.v);
    for (size_t i = 0; i < count; i++) {
        const char *words = json_string_value(json_array_get(settings, i)),
                   *of = json_string_value(json_array_get(changes, i));
        if (!i)
            tune_settings_add(set, "", "");
        tune_settings_add(set, words, of ? of : "");
        if (set->n != i + 2) { /* a setting is found by its place */
            snprintf(why, n, "'settings': '%.80s' is no setting, or is there twice", words);
            return false;
        }
        flags_read(&t->race.v[i + 1], json_string_value(json_array_get(marks, i)));
    }
    return true;
}

/* The measurements are in the recordings; the state has the rest. */
static int load(struct tune *t, const char *dir)
{
    char why[320];
    json_error_t json;
    struct visits all = {0};
    AUTO_TEXT struct text text = {0};
    AUTO_FREE char *path = xstrfmt("%s/" TUNE_STATE, dir);
    *t = (struct tune){.job.log = -1, .interrupts.fd = -1};
    if (!files_read(path, FILES_OWN, FILES_WHOLE_MAX, &text))
        return fail_at(GS_FAILED, path, 0, "cannot be read: %s", files_why(errno));
    t->state = json_loadb(text.s ? text.s : "", text.len, JSON_REJECT_DUPLICATES, &json);
    if (!t->state)
        return fail_at(GS_FAILED, path, json.line, "damaged: %s; restore the file", json.text);
    t->race_dir = realpath(dir, NULL);
    if (!take_state(t, why, sizeof why))
        return fail_at(GS_FAILED, path, 0, "damaged: %s; restore the file", why);
    t->o.out = t->root = job_recording_root(dir, t->o.platform);
    if (!t->root)
        return GS_USAGE;
    if (t->price_dir)
        CHECK(price_read(&t->price, t->price_dir));
    if (!t->race.set.n)
        return GS_OK;
    if (t->price_dir && t->job.calls)
        CHECK(job_recording_visits(&all, t->price_dir));
    race_measure(&t->race, IN_JOB, &all);
    visits_free(&all);
    CHECK(read_starts(t));
    race_measure(&t->race, IN_LAUNCHES, &t->starts);
    return GS_OK;
}

int tune_resume(const char *dir, bool commands)
{
    AUTO_FREE char *path = xstrfmt("%s/" TUNE_STATE, dir);
    AUTO_FREE char **command = NULL;
    struct tune t;
    int code = load(&t, dir);
    /* The lock first: another process may just be between a change of the state and its mark. */
    TRY(code, begun_lock(t.race_dir));
    TRY(code, begun_may_command(dir, path, "it holds a command", commands));
    TRY(code, command_restore(&command, json_object_get(t.state, "command"), path));
    t.command = command;
    TRY(code, prepare(&t));
    TRY(code, stages(&t));
    release(&t);
    for (char **w = command; w && *w; w++)
        free(*w);
    return code;
}

/* ---- again what it printed ---- */

static int load_finished(struct tune *t, const char *dir)
{
    CHECK(run_is_final(dir) ? manifest_verify(dir) : GS_OK);
    int code = load(t, dir);
    TRY(code, t->proof_dir ? judge_proof(t) : GS_OK);
    if (code)
        release(t);
    return code;
}

static int print_run(const char *dir, struct words *runs)
{
    struct tune t;
    CHECK(load_finished(&t, dir));
    if (!run_is_final(dir))
        say("%s: not complete; continue with: gradsync resume %s", dir, SHELL_WORD(dir));
    const json_t *command = json_object_get(t.state, "command");
    AUTO_TEXT struct text line = {0};
    bool measured = t.race.set.n;
    text_add(&line, "Of:");
    for (size_t i = 0; i < json_array_size(command); i++)
        text_addf(&line, " %s", SHELL_WORD(json_string_value(json_array_get(command, i))));
    if (measured) {
        say_answer(&t);
        AUTO_FREE char *text = runs_text(&t, runs);
        text_addf(&line, " (%s)", text);
        screen_say(line.s);
    } else
        say("%s: no answer, since the job was not measured; its output is in %s/launch-01.01.log",
            dir, dir);
    release(&t);
    return GS_OK;
}

int tune_draw(const char *dir, const char *file)
{
    struct tune t;
    if (!tune_is_run(dir))
        return fail(GS_USAGE,
                    "show --svg: %s is not the run of a tune: name the folder RUN with -tune- in "
                    "its name, as in: gradsync show RUN --svg FILE",
                    dir);
    CHECK(load_finished(&t, dir));
    const struct tune_result r = result_of(&t);
    int code = t.race.set.n
                   ? tune_svg(&r, file)
                   : fail(GS_FAILED, "show --svg: %s has no answer: the job was not measured", dir);
    release(&t);
    return code;
}

char *tune_latest(const char *run)
{
    AUTO_WORDS struct words names = {0};
    AUTO_FREE char *below = xstrfmt("%s/../../" JOB_TUNE, run);
    if (strstr(run, "/" JOB_TUNE "/") || strstr(run, "/" JOB_TRIAL "/"))
        files_list(below, "*-tune-*", &names);
    words_sort(&names);
    for (size_t i = names.n; i-- > 0;) {
        AUTO_FREE char *dir = xstrfmt("%s/%s", below, names.v[i]);
        if (tune_is_run(dir))
            return realpath(dir, NULL);
    }
    return NULL;
}

int tune_print(const char *path, struct words *runs)
{
    AUTO_WORDS struct words names = {0};
    AUTO_FREE char *below = xstrfmt("%s/" JOB_TUNE, path);
    size_t before = runs->n;
    int code = GS_OK;
    if (tune_is_run(path)) {
        code = print_run(path, runs);
        return code || runs->n > before ? code : GS_FAILED;
    }
    files_list(below, "*-tune-*", &names);
    words_sort(&names);
    for (size_t i = 0; i < names.n; i++) {
        AUTO_FREE char *dir = xstrfmt("%s/%s", below, names.v[i]);
        if (tune_is_run(dir) && print_run(dir, runs)) /* it does not hide the others */
            code = GS_FAILED;
    }
    return code;
}
