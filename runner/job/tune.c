/* SPDX-License-Identifier: Apache-2.0 */
#include "job/tune.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/shell.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/collect.h"
#include "job/job_process.h"
#include "job/job_recording.h"
#include "job/price.h"
#include "job/race.h"
#include "job/tune_answer.h"
#include "job/tune_setting.h"
#include "job/tune_start.h"
#include "job/tune_state.h"
#include "price/trial_config.h"
#include "record/begun.h"
#include "record/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROOF_LEAST 3 /* launches, if time is short */
#define PRICE_S 110.0 /* steps for the price */
#define FIRST_S 180.0 /* the first start ends after so long */
#define LAUNCH_S_LEAST 20.0

struct tune {
    struct tune_options o;
    char **command;
    struct tune_job job;
    struct tune_settings set;
    struct race race;
    struct price_answer price;
    struct interrupts interrupts;
    double minutes, worth, memory;
    double began, spent_s; /* spent_s: by an interrupted run before this one */
    double start_s;        /* a start takes about so long */
    double base_s;         /* that of the job as it is, the last time; mostly the slowest */
    double base_memory_B;
    enum tune_link link;
    int nccl, torch, round;
    long long ranks, nodes;
    char *race_dir, *proof_dir, *price_dir;
    size_t winner, tried;
    size_t joined_at;                    /* settings from here on are unions */
    size_t proof_launches, proof_failed; /* proof_failed: of the winner */
    struct effect proof;                 /* as compare prints it */
    bool proven;
    bool stopped, priced, captured;
};

static double left_s(const struct tune *t)
{
    return t->minutes * 60 - t->spent_s - (clock_now_s() - t->began);
}

/* ---- one line that counts down ---- */

static void progress(const struct tune *t, const char *what, const char *name)
{
    double left = fmax(0, left_s(t));
    AUTO_FREE char *line = xstrfmt("at most %d:%02d left: %s%s%s", (int)left / 60, (int)left % 60,
                                   what, *name ? ": " : "", name);
    if (isatty(2))
        fprintf(stderr, "\r\033[K%.*s", 100, line);
    else
        say("tune: %s", line);
}

static void end_progress(void)
{
    if (isatty(2))
        fprintf(stderr, "\r\033[K");
}

/* ---- the state, for resume ---- */

static const struct member {
    const char *name;
    enum { REAL, INT, WIDE, YES, RUN, OPTION } kind; /* RUN: a folder; OPTION: nobody frees it */
    size_t at;
} members[] = {
#define AT(member) offsetof(struct tune, member)
    {"minutes", REAL, AT(minutes)},
    {"worth", REAL, AT(worth)},
    {"memory", REAL, AT(memory)},
    {"spent_s", REAL, AT(spent_s)},
    {"start_s", REAL, AT(start_s)},
    {"base_s", REAL, AT(base_s)},
    {"step_s", REAL, AT(job.step_s)},
    {"base_memory_B", REAL, AT(base_memory_B)},
    {"calls", WIDE, AT(job.calls)},
    {"bytes", WIDE, AT(job.bytes)},
    {"link", INT, AT(link)},
    {"nccl", INT, AT(nccl)},
    {"torch", INT, AT(torch)},
    {"ranks", WIDE, AT(ranks)},
    {"nodes", WIDE, AT(nodes)},
    {"winner", WIDE, AT(winner)},
    {"joined_at", WIDE, AT(joined_at)},
    {"priced", YES, AT(priced)},
    {"captured", YES, AT(captured)},
    {"proof", RUN, AT(proof_dir)},
    {"price_run", RUN, AT(price_dir)},
    {"seed", WIDE, AT(o.seed.value)},
    {"launches", WIDE, AT(o.launches.value)},
    {"lossy", YES, AT(o.lossy)},
    {"emit", OPTION, AT(o.emit)},
    {"platform", OPTION, AT(o.platform)},
};
_Static_assert(sizeof(long) == sizeof(int64_t) && sizeof(size_t) == sizeof(int64_t), "WIDE");

/* Runs are beside each other (record_make_run), so the folder of all recordings can be moved. */
static json_t *run_json(const struct tune *t, const char *run)
{
    const char *workload = run == t->price_dir && t->job.calls ? JOB_TRIAL : JOB_TUNE;
    AUTO_FREE char *path = run ? xstrfmt("../../%s/%s", workload, path_name(run)) : NULL;
    return json_text(path);
}

/* Its last two names: older states have the path itself, wherever that was. */
static char *run_read(const struct tune *t, const char *path)
{
    AUTO_FREE char *workload = xstrdup(path);
    char *name = strrchr(workload, '/');
    if (!name)
        return NULL;
    *name = '\0';
    AUTO_FREE char *beside =
        xstrfmt("%s/../../%s/%s", t->race_dir, path_name(workload), path_name(path));
    return realpath(beside, NULL);
}

static json_t *member_json(const struct tune *t, const struct member *m)
{
    const void *at = (const char *)t + m->at;
    return m->kind == REAL   ? json_real(*(const double *)at)
           : m->kind == INT  ? json_integer(*(const int *)at)
           : m->kind == WIDE ? json_integer(*(const int64_t *)at)
           : m->kind == YES  ? json_boolean(*(const bool *)at)
           : m->kind == RUN  ? run_json(t, *(char *const *)at)
                             : json_text(*(char *const *)at);
}

static void member_read(struct tune *t, const struct member *m, const json_t *state)
{
    void *at = (char *)t + m->at;
    const char *text = json_text_of(state, m->name);
    if (m->kind == REAL)
        *(double *)at = json_number_value(json_object_get(state, m->name));
    else if (m->kind == INT)
        *(int *)at = (int)json_integer_of(state, m->name);
    else if (m->kind == WIDE)
        *(int64_t *)at = json_integer_of(state, m->name);
    else if (m->kind == YES)
        *(bool *)at = json_is_true(json_object_get(state, m->name));
    else if (m->kind == OPTION)
        *(const char **)at = text;
    else
        *(char **)at = run_read(t, text);
}

static int write_state(const struct tune *t)
{
    json_t *settings = json_array(), *changes = json_array();
    for (size_t i = 1; i < t->set.n; i++) {
        AUTO_FREE char *apply = tune_setting_apply(&t->set.v[i]);
        json_array_append_new(settings, json_text(apply));
        json_array_append_new(changes, json_text(t->set.v[i].changes));
    }
    AUTO_JSON json_t *state = json_pack("{so so so}", "command", tune_command_record(t->command),
                                        "settings", settings, "changes", changes);
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

/* ---- starts ---- */

static double timeout_s(const struct tune *t)
{
    double usual = t->start_s > 0 ? 3 * t->start_s + 15 : FIRST_S;
    return fmax(5, fmin(usual, fmax(left_s(t) + 0.1 * 60 * t->minutes, LAUNCH_S_LEAST)));
}

/* launch 0: that of the price */
static int open_log(struct tune *t, const char *dir, int launch)
{
    AUTO_FREE char *path =
        launch ? xstrfmt("%s/launch-%02d.01.log", dir, launch) : xstrfmt("%s/price.log", dir);
    if (t->job.log >= 0)
        close(t->job.log);
    t->job.log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return t->job.log < 0 ? fail_file(path, "written", errno) : GS_OK;
}

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

static int start(struct tune *t, const char *what, const struct tune_setting *s,
                 struct tune_started *r)
{
    AUTO_FREE char *name = name_of(s);
    progress(t, what, name);
    int code = tune_start(&t->job, s, timeout_s(t), r);
    if (!code && r->stopped)
        t->stopped = true;
    if (code || r->kind)
        return code;
    t->start_s = t->start_s > 0 ? (t->start_s + r->took_s) / 2 : r->took_s;
    if (!strcmp(s->label, TUNE_BASELINE))
        t->base_s = r->took_s;
    return GS_OK;
}

/* The first start: does the job work, which link, how long is a step? */
static int first(struct tune *t)
{
    AUTO(tune_started_free) struct tune_started r = {0};
    struct tune_setting as_is = {.label = (char *)TUNE_BASELINE};
    t->job.ask_link = true;
    int code = open_log(t, t->race_dir, 1);
    code = code ? code : start(t, "first launch", &as_is, &r);
    t->job.ask_link = false;
    end_progress();
    if (code || t->stopped)
        return code;
    if (r.ranks == 1)
        return fail(GS_FAILED, "tune: the job has one rank, which does not communicate: "
                               "start it with two or more");
    if (r.kind)
        return fail(GS_FAILED, "tune: the command: %s: %s; its output is in %s/launch-01.01.log",
                    r.kind, r.why, t->race_dir);
    t->link = r.link;
    t->nccl = (int)r.nccl;
    t->torch = r.torch;
    t->ranks = r.ranks;
    t->nodes = r.nodes;
    t->base_memory_B = r.memory_B;
    t->captured = r.captured;
    t->job.step_s = r.step_s;
    t->job.calls = r.calls;
    t->job.bytes = r.bytes;
    t->start_s = t->base_s = tune_next_s(&r);
    say("tune: a step takes %s%s; the job communicates over %s", HUMAN_TIME(r.step_s),
        t->job.object && r.calls ? "" : " (by the lines that it prints)", tune_link_words[t->link]);
    return write_state(t);
}

/* ---- the time ---- */

/* A launch of the proof: the job as it is twice, and the winner. */
static double proof_launch_s(const struct tune *t)
{
    return fmax(t->start_s + 2 * fmax(t->base_s, t->start_s), 0.01);
}

/* Time for the race: what the proof does not need. */
static double race_left_s(const struct tune *t)
{
    double launches = fmin((double)t->o.launches.value, PROOF_LEAST);
    return left_s(t) - launches * proof_launch_s(t);
}

/* Minutes that a round of all settings and the proof would take. */
static double minutes_wanted(const struct tune *t)
{
    double starts = (double)t->set.n + (double)t->o.launches.value * PROOF_STARTS + 3;
    return ceil((t->minutes * 60 - left_s(t) + starts * t->start_s) / 60);
}

/* "a launch takes ..., so ..."; NULL: there is time for a race of two rounds and a proof after
 * `first_s`. The caller frees it. */
static char *too_short(const struct tune *t, double first_s)
{
    return race_left_s(t) - first_s >= 2 * t->start_s
               ? NULL
               : xstrfmt(
                     "a launch takes %s, so --minutes %.3g is too short for a race; all settings "
                     "take: --minutes %.0f",
                     HUMAN_TIME(t->start_s), t->minutes, minutes_wanted(t));
}

static struct job_recording recording_of(const struct tune *t, const char *dir, int launch,
                                         const char *stage)
{
    return (struct job_recording){.of = {t->o.platform, dir, t->command,
                                         t->ranks > 0 ? t->ranks : 1, t->nodes > 0 ? t->nodes : 1,
                                         t->o.seed.value, launch},
                                  .stage = stage,
                                  .link = tune_link_names[t->link],
                                  .record = {.fd = -1}};
}

static int begin_launch(struct tune *t, struct job_recording *b)
{
    int code = open_log(t, b->of.dir, b->of.launch);
    return code ? code : job_recording_begin(b);
}

/* ---- the price ---- */

/* With communication and without. */
#define PRICE_PAIRS 3

static int price_start(struct tune *t, struct job_recording *b, bool none)
{
    AUTO(tune_started_free) struct tune_started r = {0};
    AUTO_WORDS struct words arm = {0};
    AUTO_FREE char *what = xstrfmt("price, launch %d of %d", b->of.launch, PRICE_PAIRS);
    if (none)
        words_add(&arm, TUNE_ARM "=none");
    struct tune_setting s = {.label = (char *)(none ? "none" : TUNE_BASELINE), .variables = arm};
    int code = start(t, what, &s, &r);
    return code || r.stopped ? code : job_recording_put(b, &s, 0, &r);
}

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
    for (int i = 1; i <= PRICE_PAIRS && !code && !t->stopped; i++) {
        struct job_recording b = recording_of(t, t->price_dir, i, JOB_PRICE);
        code = begin_launch(t, &b);
        for (int k = 0; k < 2 && !code && !interrupted(t); k++)
            code = price_start(t, &b, (i + k) % 2);
        int ended = job_recording_end(&b, !t->stopped);
        code = code ? code : ended;
    }
    end_progress();
    code = code ? code : manifest_write(t->price_dir);
    code = code ? code : price_read(&t->price, t->price_dir);
    t->priced = !t->stopped;
    if (!code && t->priced)
        tune_say_price(&t->price, t->price_dir);
    return code ? code : write_state(t);
}

/* Of its visits. */
static double price_s(const struct tune *t)
{
    return fmin(PRICE_S, fmax(5, 0.3 * t->minutes * 60 - t->start_s));
}

static int take_price(struct tune *t)
{
    if (t->o.no_price || interrupted(t))
        return GS_OK;
    if (t->job.object && !t->job.calls && t->captured)
        return price_by_launches(t);
    if (!t->job.object || !t->job.calls) {
        say("tune: no price: %s",
            t->job.object ? "no collective of NCCL or MPI was seen in this job: it uses another "
                            "library, such as Gloo, or NCCL is linked to it statically"
                          : JOB_OBJECT " is not beside gradsync; build it with 'make all'");
        return GS_OK;
    }
    AUTO_FREE char *short_by = too_short(t, price_s(t) + t->start_s);
    if (short_by)
        say("tune: %s, if the price takes as long as expected", short_by);
    struct trial_config config;
    price_config(&config, price_s(t), t->job.calls, (uint64_t)t->o.seed.value);
    struct price_launch p = {
        .config = &config, .deadline_s = 20, .most_s = 2 * (price_s(t) + t->start_s) + 20};
    progress(t, "the price", "");
    end_progress();
    int code = open_log(t, t->race_dir, 0);
    code = code ? code : price_take(&t->job, &p, t->o.platform, t->command, &t->price_dir);
    if (!code && t->price_dir) { /* as the other runs are named, below the folder of -o */
        AUTO_FREE char *path = t->price_dir;
        t->price_dir = xstrfmt("%s/%s/" JOB_TRIAL "/%s", t->o.out, t->o.platform, path_name(path));
        code = manifest_write(t->price_dir);
    }
    t->price = p.answer;
    t->priced = !interrupted(t) || t->price.known;
    if (!code && t->priced)
        tune_say_price(&t->price, t->price_dir);
    price_launch_free(&p);
    return code ? code : write_state(t);
}

/* ---- the race ---- */

static void enter_all(struct tune *t)
{
    race_begin(&t->race, t->worth);
    for (size_t i = 1; i < t->set.n; i++)
        race_enter(&t->race, t->set.v[i].weight);
}

static int make_settings(struct tune *t)
{
    const struct tune_request q = {t->o.candidates, t->o.only, t->o.lossy, t->nccl, t->torch};
    CHECK(tune_settings_make(&t->set, &q, t->link));
    t->joined_at = t->set.n;
    if (t->set.n < 2)
        return fail(GS_FAILED, "tune: there is no setting to try for this link; name some with "
                               "--candidates FILE");
    enter_all(t);
    return write_state(t);
}

static void take_result(struct tune *t, int round, size_t i, const struct tune_started *r)
{
    bool idle = !r->kind && t->set.v[i].torch.n && !*r->torch_changed;
    bool heavy = t->base_memory_B > 0 && r->memory_B > (1 + t->memory) * t->base_memory_B;
    AUTO_FREE char *words = tune_setting_words(&t->set.v[i]);
    if (r->kind || heavy || idle) {
        if (i)
            race_failed(&t->race, i);
        end_progress();
        if (idle)
            say("tune: %s: did not take effect", words);
        else if (heavy && !r->kind)
            say("tune: %s: not advised: it needs %.0f%% more memory", words,
                100 * (r->memory_B / t->base_memory_B - 1));
        else
            say("tune: %s: %s: %s%s", words, r->kind, r->why,
                t->set.v[i].may_disconnect ? " (the job may need it to connect)" : "");
        return;
    }
    race_time(&t->race, round, i, r->step_s);
}

static int race_one(struct tune *t, struct job_recording *b, size_t i)
{
    AUTO(tune_started_free) struct tune_started r = {0};
    AUTO_FREE char *what = xstrfmt("race, round %d, %zu of %zu settings left", t->round + 1,
                                   race_left(&t->race), t->tried);
    CHECK(start(t, what, &t->set.v[i], &r));
    if (r.stopped)
        return GS_OK;
    take_result(t, t->round, i, &r);
    return job_recording_put(b, &t->set.v[i], 0, &r);
}

/* At random. Settings that were measured in this round, before an interruption, are left out. */
static size_t order_of(const struct tune *t, size_t *order)
{
    struct rng rng;
    size_t n = 0;
    for (size_t i = 0; i < t->race.n; i++)
        if ((i == 0 || !t->race.v[i].out) && isnan(t->race.v[i].log_s[t->round]))
            order[n++] = i;
    rng_stream(&rng, (uint64_t)t->o.seed.value, (uint64_t)t->round);
    rng_shuffle(&rng, order, n);
    for (size_t i = (n + 1) / 2; i < n; i++)
        if (order[i] == 0) { /* into the first half: the time may end */
            order[i] = order[n - 1 - i];
            order[n - 1 - i] = 0;
        }
    return n;
}

/* A baseline that fails ends the race. With too little time, the rows at the end of the table are left
 * out of the first round. */
static int race_round(struct tune *t)
{
    struct job_recording b = recording_of(t, t->race_dir, t->round + 1, "race");
    AUTO_FREE size_t *order = xcalloc(t->race.n, sizeof *order);
    size_t n = order_of(t, order);
    bool whole = true;
    int code = begin_launch(t, &b);
    for (size_t k = 0; k < n && whole && !code; k++) {
        whole = !interrupted(t) && race_left_s(t) > 0;
        if (whole)
            code = race_one(t, &b, order[k]);
    }
    int ended = job_recording_end(&b, whole);
    return code ? code : ended;
}

static int cut_to_time(struct tune *t)
{
    AUTO_FREE char *short_by = too_short(t, 0);
    if (short_by)
        return fail(GS_FAILED, "tune: %s", short_by);
    /* The first launch was slow: it looked for its step. The end of the round sees what was left out. */
    double fit = 1.5 * race_left_s(t) / fmax(t->start_s, 0.1);
    for (size_t i = fit < 2 ? 2 : (size_t)fit; i < t->race.n; i++)
        t->race.v[i].out = true;
    t->tried = race_left(&t->race);
    return GS_OK;
}

/* After the first round: what there was no time for. */
static void count_tried(struct tune *t)
{
    t->tried = 0;
    for (size_t i = 1; i < t->joined_at; i++) {
        bool measured = t->race.v[i].n || t->race.v[i].failed;
        t->tried += measured;
        t->race.v[i].out = t->race.v[i].out || !measured;
    }
}

static void say_tried(const struct tune *t)
{
    if (t->tried + 1 < t->joined_at)
        say("tune: %zu of %zu settings fit into %.3g minute%s; all: --minutes %.0f; others: --only",
            t->tried, t->joined_at - 1, t->minutes, t->minutes == 1 ? "" : "s", minutes_wanted(t));
}

/* Settings that were shown shorter one by one, and that set different variables, together. */
static void join_shorter(struct tune *t)
{
    size_t n = t->race.n, with = 0;
    AUTO_FREE size_t *order = xcalloc(n, sizeof *order);
    size_t m = t->joined_at == t->set.n ? race_order(&t->race, order) : 0;
    for (size_t k = 0; k < m; k++) {
        if (!(t->race.v[order[k]].hi < 0))
            continue;
        size_t joined = with ? tune_settings_join(&t->set, with, order[k]) : order[k];
        while (joined && t->race.n < t->set.n)
            race_enter(&t->race, t->set.v[t->race.n].weight);
        with = joined ? joined : with;
    }
    for (size_t i = n; i < t->race.n; i++)
        t->race.v[i].out = i != with;
}

static int run_race(struct tune *t)
{
    int code = GS_OK;
    if (t->round == 0)
        CHECK(cut_to_time(t));
    while (!code && !t->stopped && t->round < RACE_ROUNDS) {
        double need = t->start_s * (double)(race_left(&t->race) + 1);
        if (t->round && (race_decided(&t->race) || race_left_s(t) < need))
            break;
        code = race_round(t);
        if (!code && isnan(t->race.v[0].log_s[t->round]) && !t->stopped)
            return fail(GS_FAILED,
                        race_left_s(t) > 0
                            ? "tune: the job as it is failed in round %d of the race"
                            : "tune: the time was over in round %d of the race, before "
                              "the job as it is was measured: use more --minutes",
                        t->round + 1);
        race_judge(&t->race);
        if (!t->stopped) {
            if (t->round == 0) {
                count_tried(t);
                say_tried(t);
            }
            join_shorter(t);
            t->round++;
        }
        TRY(code, write_state(t));
    }
    if (!t->stopped)
        t->winner = race_winner(&t->race);
    end_progress();
    return code ? code : write_state(t);
}

/* ---- the proof ---- */

static int proof_one(struct tune *t, struct job_recording *b, size_t i, int copy, double *log_s)
{
    AUTO(tune_started_free) struct tune_started r = {0};
    AUTO_FREE char *what = xstrfmt("proof, launch %d of %zu", b->of.launch, t->proof_launches);
    CHECK(start(t, what, &t->set.v[i], &r));
    if (r.stopped)
        return GS_OK;
    *log_s = r.kind ? (double)NAN : log(r.step_s);
    if (r.kind) {
        AUTO_FREE char *name = name_of(&t->set.v[i]);
        end_progress();
        say("tune: %s: %s: %s: %s", what, name, r.kind, r.why);
    }
    return job_recording_put(b, &t->set.v[i], copy, &r);
}

static int proof_launch(struct tune *t, int launch, double log_s[PROOF_STARTS])
{
    struct job_recording b = recording_of(t, t->proof_dir, launch, "proof");
    struct rng rng;
    if (!isnan(log_s[PROOF_BASE] + log_s[PROOF_AGAIN] + log_s[PROOF_WINNER]))
        return GS_OK; /* before an interruption */
    size_t order[PROOF_STARTS] = {PROOF_BASE, PROOF_AGAIN, PROOF_WINNER};
    rng_stream(&rng, (uint64_t)t->o.seed.value + 1, (uint64_t)launch);
    rng_shuffle(&rng, order, PROOF_STARTS);
    bool whole = true;
    int code = begin_launch(t, &b);
    for (size_t k = 0; k < PROOF_STARTS && whole && !code; k++) {
        whole = !interrupted(t);
        if (whole && isnan(log_s[order[k]]))
            code = proof_one(t, &b, order[k] == PROOF_WINNER ? t->winner : 0,
                             order[k] == PROOF_AGAIN, &log_s[order[k]]);
    }
    int ended = job_recording_end(&b, whole && !t->stopped);
    return code ? code : ended;
}

struct earlier {
    double (*log_s)[PROOF_STARTS];
    size_t n;
};

static void take_earlier_proof(void *ctx, int launch, const char *label, int copy, double step_s)
{
    struct earlier *e = ctx;
    size_t place = strcmp(label, TUNE_BASELINE) ? PROOF_WINNER : (size_t)copy;
    if (launch >= 1 && (size_t)launch <= e->n && place < PROOF_STARTS && step_s > 0)
        e->log_s[launch - 1][place] = log(step_s);
}

static int judge_proof(struct tune *t)
{
    struct comparison c = {0};
    int code = compare_within_run(&c, t->proof_dir, NULL, NULL);
    t->proof = (struct effect){.value = NAN, .lo = NAN, .hi = NAN};
    if (!code && c.n)
        comparison_solve(&c, 1);
    for (size_t i = 0; i < c.n && !code; i++) /* one, unless the launches are of several kinds */
        if (c.v[i].effect.launches > t->proof.launches) {
            t->proof = c.v[i].effect;
            t->proven = race_proven(&t->proof, c.v[i].floor, t->worth);
        }
    comparison_free(&c);
    return code;
}

static int run_proof(struct tune *t)
{
    double fit = (left_s(t) + 0.1 * 60 * t->minutes) / proof_launch_s(t);
    size_t most = (size_t)t->o.launches.value, least = most < PROOF_LEAST ? most : PROOF_LEAST, i;
    t->proof_launches = fit < (double)most ? (size_t)fmax(fit, (double)least) : most;
    AUTO_FREE double(*log_s)[PROOF_STARTS] = xcalloc(most, sizeof *log_s);
    int code = GS_OK;
    for (i = 0; i < most; i++)
        log_s[i][0] = log_s[i][1] = log_s[i][2] = (double)NAN;
    struct earlier e = {log_s, most};
    if (!t->proof_dir)
        code = record_make_run(t->o.out, t->o.platform, JOB_TUNE, "proof", &t->proof_dir);
    else
        code = job_recording_read(t->proof_dir, take_earlier_proof, &e);
    TRY(code, write_state(t));
    for (i = 0; i < t->proof_launches && !code && !t->stopped; i++) {
        if (i >= least && left_s(t) + 0.1 * 60 * t->minutes < proof_launch_s(t))
            break; /* the launches became slower */
        code = proof_launch(t, (int)i + 1, log_s[i]);
    }
    end_progress();
    for (size_t k = 0; k < i; k++)
        t->proof_failed += isnan(log_s[k][PROOF_WINNER]) ? 1 : 0;
    if (!t->stopped) {
        TRY(code, manifest_write(t->proof_dir));
        TRY(code, judge_proof(t));
    }
    return code ? code : write_state(t);
}

/* ---- the answer ---- */

static int seal(const struct tune *t)
{
    int code = GS_OK;
    if (!tune_plot(t->race_dir, t->o.platform, t->ranks, t->nodes, &t->set, &t->race, &t->price,
                   t->job.step_s, t->winner, t->winner ? &t->proof : NULL))
        code = fail_file(t->race_dir, "written to", errno);
    TRY(code, manifest_write(t->race_dir));
    say("tune: recordings: %s%s%s%s%s", t->price_dir ? t->price_dir : "", t->price_dir ? ", " : "",
        t->race_dir, t->proof_dir ? ", " : "", t->proof_dir ? t->proof_dir : "");
    return code;
}

static int answer(struct tune *t)
{
    if (t->stopped) {
        say("tune: interrupted; the measurements are kept; continue with: gradsync resume %s",
            SHELL_WORD(t->race_dir));
        return GS_FAILED;
    }
    if (t->winner && t->proven)
        tune_say_proven(&t->set.v[t->winner], &t->proof, t->proof_failed, &t->price, t->o.emit);
    else
        tune_say_nothing(&t->set, t->tried, t->worth,
                         t->winner ? t->winner : race_best_open(&t->race),
                         t->winner ? &t->proof : NULL);
    return seal(t);
}

static int end_at_price(const struct tune *t)
{
    files_remove_tree(t->race_dir); /* there is no race */
    say("tune: recording: %s", t->price_dir ? t->price_dir : "none");
    return GS_OK;
}

static int stages(struct tune *t)
{
    if (!t->job.step_s)
        CHECK(first(t));
    if (!t->stopped && !t->set.n)
        CHECK(make_settings(t));
    if (!t->stopped && !t->priced && !t->race.v[0].n)
        CHECK(take_price(t));
    else if (t->priced) /* before this call: the answer begins with it all the same */
        tune_say_price(&t->price, t->price_dir);
    if (!t->stopped && tune_say_worthless(&t->price, t->worth))
        return end_at_price(t);
    if (!t->stopped && !t->winner)
        CHECK(run_race(t));
    if (!t->stopped && t->winner)
        CHECK(run_proof(t));
    return answer(t);
}

/* ---- begin ---- */

static bool read_share(const char *text, double *share)
{
    return units_parse_real(text, share) && *share >= 0 && *share < 1;
}

static int read_options(struct tune *t)
{
    const struct tune_options *o = &t->o;
    if (!units_parse_real(o->minutes, &t->minutes) || !(t->minutes > 0) || t->minutes > 10000)
        return fail(GS_USAGE,
                    "tune: --minutes '%s': must be a number above 0, at most 10000, e.g. 1.5",
                    o->minutes);
    if (!read_share(o->worth, &t->worth))
        return fail(GS_USAGE, "tune: --worth '%s': must be a share of the step, e.g. 1%%",
                    o->worth);
    if (!read_share(o->memory, &t->memory))
        return fail(GS_USAGE, "tune: --memory '%s': must be a share, e.g. 10%%", o->memory);
    return tune_emit_known(o->emit);
}

static int prepare(struct tune *t)
{
    CHECK(job_recording_folder("tune", t->o.platform, t->o.out));
    t->began = clock_now_s();
    t->job.out = realpath(t->o.out, NULL);
    t->job.command = tune_command(t->command);
    t->job.interrupts = &t->interrupts;
    t->job.log = -1;
    t->job.measure_s = fmin(5, fmax(0.5, t->minutes * 60 / 150));
    t->job.object = job_beside(JOB_OBJECT, "../lib/gradsync/" JOB_OBJECT);
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
    free(t->job.python);
    free(t->race_dir);
    free(t->proof_dir);
    free(t->price_dir);
    tune_settings_free(&t->set);
    race_free(&t->race);
}

int tune_job(const struct tune_options *o, char **command)
{
    struct tune t = {.o = *o, .command = command, .job.log = -1, .interrupts.fd = -1};
    CHECK(read_options(&t));
    CHECK(tune_command_find(*command));
    /* It also finds faults of the user's file, and that --only leaves nothing. */
    const struct tune_request all = {o->candidates, o->only, o->lossy, 0,
                                     TUNE_DDP | TUNE_FSDP | TUNE_PYTHON};
    CHECK(tune_say_settings(&all, o->dry_run));
    if (o->dry_run) {
        printf("Of these, tune tries the ones for the link of the job.\n"
               "It takes at most %.3g minutes: the first launch, the price, the race, and a proof "
               "of %ld launches.\n",
               t.minutes, o->launches.value);
        return GS_OK;
    }
    int code = prepare(&t);
    TRY(code, record_make_run(o->out, o->platform, JOB_TUNE, "tune", &t.race_dir));
    TRY(code, begun_lock(t.race_dir));
    TRY(code, write_state(&t));
    TRY(code, stages(&t));
    release(&t);
    return code;
}

/* ---- resume ---- */

bool tune_is_run(const char *dir)
{
    AUTO_FREE char *path = xstrfmt("%s/" TUNE_STATE, dir);
    return !access(path, F_OK);
}

static void take_earlier_race(void *ctx, int launch, const char *label, int copy, double step_s)
{
    struct tune *t = ctx;
    size_t i = tune_settings_find(&t->set, label);
    (void)copy;
    if (i >= t->race.n || launch > RACE_ROUNDS)
        return;
    if (!(step_s > 0) && i)
        race_failed(&t->race, i);
    else if (step_s > 0)
        race_time(&t->race, launch - 1, i, step_s);
    t->round = launch - 1 > t->round ? launch - 1 : t->round;
}

/* The last round may be whole. */
static void restore_race(struct tune *t)
{
    bool whole = !isnan(t->race.v[0].log_s[t->round]);
    t->tried = t->joined_at - 1;
    if (!isnan(t->race.v[0].log_s[0]))
        race_judge(&t->race);
    if (t->round > 0)
        count_tried(t);
    for (size_t i = 1; i < t->race.n; i++)
        whole = whole && (t->race.v[i].out || !isnan(t->race.v[i].log_s[t->round]));
    t->round += whole;
}

static int restore(struct tune *t, const json_t *state)
{
    json_t *setting;
    size_t i;
    if (t->price_dir && price_read(&t->price, t->price_dir))
        return GS_FAILED;
    if (!json_array_size(json_object_get(state, "settings")))
        return GS_OK;
    tune_settings_add(&t->set, "", "");
    json_array_foreach(json_object_get(state, "settings"), i, setting)
    {
        const json_t *of = json_array_get(json_object_get(state, "changes"), i);
        tune_settings_add(&t->set, json_string_value(setting), of ? json_string_value(of) : "");
    }
    enter_all(t);
    int code = job_recording_read(t->race_dir, take_earlier_race, t);
    restore_race(t);
    return code;
}

int tune_resume(const char *dir, bool commands)
{
    AUTO_FREE char *path = xstrfmt("%s/" TUNE_STATE, dir);
    AUTO_JSON json_t *state = NULL;
    AUTO_FREE char **command = NULL;
    CHECK(tune_state_read(&state, path));
    struct tune t = {.race_dir = realpath(dir, NULL), .job.log = -1, .interrupts.fd = -1};
    for (size_t i = 0; i < COUNT(members); i++)
        member_read(&t, &members[i], state);
    AUTO_FREE char *out = job_recording_root(dir, t.o.platform);
    t.o.out = out;
    int code = out ? restore(&t, state) : GS_USAGE;
    TRY(code, begun_may_command(dir, path, "it holds a command", commands));
    TRY(code, begun_lock(t.race_dir));
    TRY(code, tune_command_restore(&command, json_object_get(state, "command"), path));
    t.command = command;
    TRY(code, prepare(&t));
    TRY(code, stages(&t));
    release(&t);
    for (char **w = command; w && *w; w++)
        free(*w);
    return code;
}
