/* SPDX-License-Identifier: Apache-2.0 */
#include "job/trial.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/text.h"
#include "job/job_process.h"
#include "job/job_recording.h"
#include "job/price.h"
#include "job/trial_result.h"
#include "nccl_tuner/choice.h"
#include "nccl_tuner/trial_config.h"
#include "record/record.h"
#include "reduce/gather.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the arms, as --arms names them ---- */

static int read_arm(struct trial_config *c, const char *text)
{
    struct trial_arm *arm = &c->arms[c->n_arms];
    if (strlen(text) >= sizeof arm->label || !choice_parse(&arm->choice, text))
        return fail(
            GS_USAGE,
            "trial: --arms: '%s': must be auto, ctas=1 to 64, an algorithm (ring, tree, "
            "nvls, nvls-tree, collnet-direct, collnet-chain, pat), a protocol (LL, "
            "LL128, Simple), or several joined by '/'; or none, one or half, for the price of "
            "communication",
            text);
    strcpy(arm->label, text);
    for (size_t i = 0; i < c->n_arms; i++)
        if (!memcmp(&c->arms[i].choice, &arm->choice, sizeof arm->choice))
            return i == 0 ? GS_OK
                          : fail(GS_USAGE,
                                 "trial: --arms: '%s': sets the same as '%s'; remove one of them",
                                 text, c->arms[i].label);
    c->n_arms++;
    return GS_OK;
}

static bool is_price(const struct trial_config *c)
{
    return c->n_arms > 1 && trial_arm_is_price(c->arms[1].label);
}

/* The baseline, NCCL's own choice, and then the arms of a list. Those of a price are applied by another
 * object than the settings of NCCL. */
static int read_arms(struct trial_config *c, const char *list)
{
    AUTO_WORDS struct words all = {0};
    words_split(&all, list, ',');
    int code = read_arm(c, "auto");
    for (size_t i = 0; i < all.n && !code; i++)
        code = c->n_arms < TRIAL_ARMS ? read_arm(c, all.v[i]) : GS_OK;
    if (!code && (c->n_arms < 2 || all.n >= TRIAL_ARMS))
        return fail(GS_USAGE, "trial: --arms names %zu beside auto: must be 1 to %d",
                    c->n_arms < 2 ? 0 : all.n, TRIAL_ARMS - 1);
    for (size_t i = 2; i < c->n_arms && !code; i++)
        if (trial_arm_is_price(c->arms[i].label) != is_price(c))
            code = fail(
                GS_USAGE,
                "trial: --arms: '%s' and '%s' cannot be in one trial: none, one and half leave "
                "communication out, the others are settings of NCCL",
                c->arms[1].label, c->arms[i].label);
    return code;
}

/* ---- plugins of NCCL, and those that it would load without a variable ---- */

#define WARN_AFTER_S 30 /* without NCCL */

struct wanted {
    const char *library, *symbol;
};

static int exports(void *ctx)
{
    const struct wanted *w = ctx;
    void *handle = dlopen(w->library, RTLD_LAZY | RTLD_LOCAL);
    bool found = false;
    for (int version = 1; handle && version < 10; version++) {
        char name[64];
        snprintf(name, sizeof name, "%s_v%d", w->symbol, version);
        found = found || dlsym(handle, name);
    }
    return found;
}

/* Whether NCCL would load this plugin; in a process of its own, because loading runs its code. */
static bool is_plugin(const char *library, const char *symbol)
{
    int status = family_apart(exports, &(struct wanted){library, symbol});
    return status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

static int refuse(const char *library)
{
    return fail(
        GS_USAGE,
        "trial: %s has a tuner, and a job takes only one; set NCCL_TUNER_PLUGIN=none to run "
        "the trial without it: auto is then NCCL's own choice",
        library);
}

/* NCCL takes the tuner of the network plugin if there is no other. */
static int check_network(void)
{
    const char *name = getenv("NCCL_NET_PLUGIN");
    bool named = name && *name, bare = named && !strchr(name, '/') && strncmp(name, "lib", 3);
    AUTO_FREE char *library =
        bare ? xstrfmt("libnccl-net-%s.so", name) : xstrdup(named ? name : "libnccl-net.so");
    return is_plugin(library, "ncclTunerPlugin") ? refuse(library) : GS_OK;
}

/* A job takes only one tuner. NCCL_TUNER_PLUGIN=none says that it may be replaced. */
static int check_tuner(void)
{
    const char *tuner = getenv("NCCL_TUNER_PLUGIN");
    if (tuner && !strcasecmp(tuner, "none"))
        return GS_OK;
    if (tuner && *tuner)
        return fail(
            GS_USAGE,
            "trial: NCCL_TUNER_PLUGIN is '%s', and a job takes only one tuner; set it to none "
            "to run the trial without that one: auto is then NCCL's own choice",
            tuner);
    if (is_plugin("libnccl-tuner.so", "ncclTunerPlugin"))
        return refuse("libnccl-tuner.so");
    return check_network();
}

struct job {
    const struct trial_options *o;
    char **command;
    struct trial_config config;
    struct job_watch *watch; /* of this launch */
    char *object;            /* the tuner */
    struct trial_folder ranks;
    char *run; /* the run folder; NULL until there is something for it */
    int launch;
    size_t looked_at;          /* this launch: blocks, to see whether it can end */
    bool recorded, captured;   /* this launch; the user knows that nothing can be switched */
    double warn_at;            /* clock; INFINITY: the user knows that no rank uses NCCL */
    struct launches_told told; /* left out of the statistics; others are measured for them */
};

/* ---- after ---- */

static int record(struct job *j, const struct trial_comm *c)
{
    const struct job_source s = {j->o->platform, j->run,   j->command,
                                 c->ranks,       c->nodes, (long long)j->config.seed,
                                 j->launch};
    int code = job_recording_trial(c, &s, j->watch, c->over >= c->ranks);
    if (code)
        return code;
    trial_result_say(c, j->launch);
    return GS_OK;
}

/* The ranks look for it while they hold, and all of them take it at the same call (nccl_tuner/trial.h). */
static void keep_best(const struct job *j, const struct trial_comm *c)
{
    const char *best = trial_result_best(c);
    char number[32], *path = xstrfmt("%s/keep", j->ranks.path),
                     *aside = xstrfmt("%s/.keep", j->ranks.path);
    for (size_t i = 1; best && i < j->config.n_arms; i++)
        if (!strcmp(j->config.arms[i].label, best)) {
            snprintf(number, sizeof number, "%zu\n", i);
            if (!files_write_new(aside, number, 0666) || rename(aside, path))
                fail_file(path, "written; the job continues with auto", errno);
        }
    say("trial: the job continues with %s",
        best ? best : "auto: no setting was shown to be faster");
    free(path);
    free(aside);
}

/* Ends the trial once each arm has a verdict. With --blocks, the user wants that many. */
static void end_early(struct job *j, const struct trial_comm *c)
{
    if (j->o->blocks.value || !trial_result_enough(c, &j->looked_at, CONTRAST_DRAWS))
        return;
    AUTO_FREE char *path = xstrfmt("%s/stop", j->ranks.path);
    if (!files_write_new(path, "", 0666))
        fail_file(path, "written; the trial goes on", errno);
}

/* A user need not wait for the end of the job to learn this. */
static void warn_captured(struct job *j, const struct trial_ranks *r)
{
    for (size_t i = 0; i < r->n && !j->captured; i++)
        if (r->v[i].captured) {
            say("trial: " TRIAL_CAPTURED "; the job continues");
            j->captured = true;
        }
}

/* Of a job that goes on for ever, the message at its end would come too late. */
static void warn_unloaded(struct job *j, const struct trial_ranks *r)
{
    if (clock_now_s() < j->warn_at)
        return;
    j->warn_at = INFINITY;
    if (!r->loaded)
        say("trial: no rank loaded the tuner plugin in %d s: a command without NCCL cannot have a "
            "trial, use gradsync tune or train; the job continues",
            WARN_AFTER_S);
}

/* Reads what the ranks wrote; before the end of the job, only uses it once the trial is over. A
 * command that failed has reported why itself. */
static int collect(struct job *j, bool ended, int status)
{
    AUTO(trial_ranks_free) struct trial_ranks r = {0};
    int code = trial_ranks_read(&r, j->ranks.path);
    if (code)
        return ended ? code : GS_OK;
    const struct trial_comm *c = trial_ranks_lead(&r);
    bool over = c && c->over >= c->ranks;
    if (!ended && !c) {
        warn_captured(j, &r);
        warn_unloaded(j, &r);
    }
    if (!ended && c && !over)
        end_early(j, c);
    if (ended && !c && !status) {
        AUTO_FREE char *why = trial_result_why(&r, j->o->calls.value, false);
        code = fail(GS_FAILED, "trial: %s", why);
    }
    if ((ended || over) && c) {
        if (!j->run)
            code = record_make_run(j->o->out, j->o->platform, JOB_TRIAL, "", &j->run);
        code = code ? code : record(j, c);
        j->recorded = true;
        if (!code && !ended && j->o->keep_best)
            keep_best(j, c);
    }
    return code;
}

/* ---- the job ---- */

static int while_it_runs(void *ctx)
{
    struct job *j = ctx;
    job_watch_look(j->watch);
    return j->recorded ? GS_OK : collect(j, false, 0);
}

/* In the process of the command alone. A profiler that the user has is left in place: then nothing
 * reports what NCCL ran. */
static void prepare(void *ctx)
{
    const struct job *j = ctx;
    const char *profiler = getenv("NCCL_PROFILER_PLUGIN");
    setenv("NCCL_TUNER_PLUGIN", j->object, 1);
    setenv("GRADSYNC_TRIAL", j->ranks.config, 1);
    if (!(profiler && *profiler) && !is_plugin("libnccl-profiler.so", "ncclProfiler"))
        setenv("NCCL_PROFILER_PLUGIN", j->object, 1);
}

static int launch(struct job *j, int *status)
{
    const struct job_foreground child = {j->command, while_it_runs, prepare, j};
    j->config.seed = (uint64_t)(j->o->seed.value + j->launch - 1);
    int code = trial_folder_make(&j->ranks, j->o->out, &j->config);
    if (code)
        return code;
    j->recorded = j->captured = false;
    j->looked_at = 0;
    j->warn_at = clock_now_s() + WARN_AFTER_S;
    j->watch = job_watch_new();
    code = job_foreground(&child, status);
    if (!code && !j->recorded)
        code = collect(j, true, *status);
    job_watch_free(j->watch);
    trial_folder_remove(&j->ranks);
    return code;
}

/* The job may have said nothing, unless it could not be started. */
static void say_unrecorded(const struct job *j, int status)
{
    if (status == 126 || status == 127)
        return;
    if (j->run)
        say("trial: the command exited with %d; launch %d was not recorded", status, j->launch - 1);
    else
        say("trial: the command exited with %d; no trial was recorded", status);
}

static bool more_to_come(const struct job *j)
{
    long planned = j->o->launches.value;
    return j->launch <= planned + launches_more(&j->told, planned);
}

static int run_trial(const struct trial_options *o, char **command, const struct trial_config *c)
{
    struct job j = {.o = o, .command = command, .config = *c};
    int status = 0, code = check_tuner();
    code = code ? code : job_recording_folder("trial", o->platform, o->out);
    code = code ? code : job_object(&j.object, "libnccl-tuner-gradsync.so");
    for (j.launch = 1; j.object && more_to_come(&j) && !code && !status; j.launch++) {
        code = launch(&j, &status);
        if (j.run && !code)
            code = launches_tell(&j.told, "trial", j.run);
    }
    if (status && !j.recorded)
        say_unrecorded(&j, status);
    if (j.run && !code)
        code = job_recording_seal(j.run);
    free(j.told.v);
    free(j.object);
    free(j.run);
    return status ? status : code;
}

int trial_job(const struct trial_options *o, char **command)
{
    struct trial_config c = {.seed = (uint64_t)o->seed.value,
                             .steps = (uint64_t)o->steps.value,
                             .visit_ms = 1000 * (uint64_t)o->visit_s.value,
                             .warmup = (uint64_t)o->warmup.value,
                             .blocks = (uint64_t)o->blocks.value,
                             .seconds = (uint64_t)o->seconds,
                             .calls = (uint64_t)o->calls.value,
                             .ranks = (uint64_t)o->ranks.value};
    int code = read_arms(&c, o->arms);
    if (code || !is_price(&c))
        return code ? code : run_trial(o, command, &c);
    if (o->keep_best)
        return fail(GS_USAGE, "trial: --keep-best has no meaning for a price: the results of that "
                              "launch are thrown away");
    if (o->launches.value > 1)
        return fail(GS_USAGE, "trial: --launches: a price is taken in one launch");
    return price_job(o->platform, o->out, command, &c, (double)o->deadline.value);
}
