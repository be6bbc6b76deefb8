/* SPDX-License-Identifier: Apache-2.0 */
#include "job/trial.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/shell.h"
#include "base/text.h"
#include "job/job_process.h"
#include "job/job_recording.h"
#include "job/trial_result.h"
#include "nccl_tuner/choice.h"
#include "nccl_tuner/trial_config.h"
#include "record/manifest.h"
#include "record/record.h"
#include "reduce/gather.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the arms, as --arms names them ---- */

/* The arm that sets the same as this one, in other words perhaps; NULL: none does. */
static const char *same_arm(const struct words *arms, const struct choice *c)
{
    for (size_t i = 0; i < arms->n; i++) {
        struct choice other;
        if (choice_parse(&other, arms->v[i]) && !memcmp(&other, c, sizeof other))
            return arms->v[i];
    }
    return NULL;
}

static int read_arm(struct words *arms, const char *text)
{
    struct choice c;
    if (!choice_parse(&c, text))
        return fail(
            GS_USAGE,
            "trial: --arms: '%s': must be auto, ctas=1 to 64, an algorithm (ring, tree, "
            "nvls, nvls-tree, collnet-direct, collnet-chain, pat), a protocol (LL, "
            "LL128, Simple), or several joined by '/'; or none, one or half, for the price of "
            "communication",
            text);
    const char *same = same_arm(arms, &c);
    if (same && same != arms->v[0])
        return fail(GS_USAGE, "trial: --arms: '%s': sets the same as '%s'; remove one of them",
                    text, same);
    if (!same)
        words_add(arms, text);
    return GS_OK;
}

static bool are_price(const struct words *arms)
{
    return arms->n > 1 && trial_arm_is_price(arms->v[1]);
}

/* They are applied by another object than the settings of NCCL. */
static int refuse_mixed(const struct words *arms)
{
    for (size_t i = 1; i < arms->n; i++)
        if (trial_arm_is_price(arms->v[i]) != are_price(arms))
            return fail(
                GS_USAGE,
                "trial: --arms: '%s' and '%s' cannot be in one trial: none, one and half leave "
                "communication out, the others are settings of NCCL",
                arms->v[1], arms->v[i]);
    return GS_OK;
}

/* Adds the baseline, NCCL's own choice, and then the arms of a list. */
static int read_arms(struct words *arms, const char *list)
{
    AUTO_WORDS struct words all = {0};
    int code = GS_OK;
    words_split(&all, list, ',');
    words_add(arms, "auto");
    for (size_t i = 0; i < all.n && !code; i++)
        code = read_arm(arms, all.v[i]);
    if (!code && (arms->n < 2 || arms->n > TRIAL_ARMS))
        code = fail(GS_USAGE, "trial: --arms names %zu beside auto: must be 1 to %d", arms->n - 1,
                    TRIAL_ARMS - 1);
    return code ? code : refuse_mixed(arms);
}

/* ---- plugins of NCCL, and those that it would load without a variable ---- */

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

#define START 5 /* deadlines, until a step is found */

struct job {
    const struct trial_options *o;
    char **command;
    struct words arms;       /* the baseline first */
    struct job_watch *watch; /* of this launch */
    bool price;              /* the arms are none, one, half */
    char *object;            /* tuner or price */
    struct trial_folder ranks;
    char *run; /* the run folder; NULL until there is something for it */
    int launch;
    size_t looked_at;        /* this launch: blocks, to see whether it can end */
    bool recorded, captured; /* this launch; the user knows that nothing can be switched */
    struct price_answer answer;
    char why[512]; /* the first error, if somebody asked for the answer */
    /* Of a price: when the ranks wrote last, and how much; how long they may be silent. */
    double wrote_at, silent_s;
    off_t written;
    bool hung;
    struct launches_told told; /* left out of the statistics; others are measured for them */
};

/* ---- before ---- */

static char *config_text(const struct job *j)
{
    const struct trial_options *o = j->o;
    struct text t = {0};
    for (size_t i = 0; i < j->arms.n; i++)
        text_addf(&t, "arm = %s\n", j->arms.v[i]);
    text_addf(&t,
              "seed = %ld\nsteps = %ld\nvisit_s = %ld\nwarmup = %ld\nblocks = %ld\nseconds = %ld\n"
              "calls = %ld\nranks = %ld\n",
              o->seed.value + j->launch - 1, o->steps.value, o->visit_s.value, o->warmup.value,
              o->blocks.value, o->seconds, o->calls.value, o->ranks.value);
    return t.s;
}

/* ---- after ---- */

static void say_price(const struct price_answer *a)
{
    AUTO_FREE char *sentence = a->known ? price_sentence(a) : NULL, *noise = price_noise(a);
    if (sentence)
        say("price: %s", sentence);
    else if (*a->why)
        say("price: %s", a->why);
    if (noise)
        say("price: %s", noise);
}

static int record(struct job *j, const struct trial_comm *c)
{
    const struct job_source s = {j->o->platform, j->run,   j->command,
                                 c->ranks,       c->nodes, j->o->seed.value + j->launch - 1,
                                 j->launch};
    bool complete = c->over >= c->ranks || price_enough(&j->answer);
    int code = job_recording_trial(c, &s, j->watch, complete);
    if (code || j->o->answer)
        return code;
    say("trial: launch %d: a step of %lld collectives and %.1f MB; %zu visits, %lld dropped",
        j->launch, (long long)c->step_calls, (double)c->step_bytes / 1e6, c->n,
        (long long)c->dropped);
    trial_result_say(c);
    if (j->price)
        say_price(&j->answer);
    return GS_OK;
}

/* The ranks look for it while they hold, and all of them take it at the same call (nccl_tuner/trial.h). */
static void keep_best(const struct job *j, const struct trial_comm *c)
{
    const char *best = trial_result_best(c);
    char number[32], *path = xstrfmt("%s/keep", j->ranks.path),
                     *aside = xstrfmt("%s/.keep", j->ranks.path);
    for (size_t i = 1; best && i < j->arms.n; i++)
        if (!strcmp(j->arms.v[i], best)) {
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
    if (j->price && c)
        price_from(&j->answer, c);
    over = over || price_enough(&j->answer);
    if (!ended && !c)
        warn_captured(j, &r);
    if (!ended && c && !over && !j->price)
        end_early(j, c);
    if (ended && !c && !status)
        code = trial_result_explain(&r, j->o->calls.value, j->price);
    if ((ended || over) && c) {
        if (!j->run)
            code = record_make_run(j->o->out, j->o->platform, "trial", "", &j->run);
        code = code ? code : record(j, c);
        j->recorded = true;
        if (!code && !ended && j->o->keep_best)
            keep_best(j, c);
    }
    return code;
}

/* ---- a price: the job is ended ---- */

static off_t written(const char *dir)
{
    AUTO_WORDS struct words names = {0};
    off_t all = 0;
    files_list(dir, "*.jsonl", &names);
    for (size_t i = 0; i < names.n; i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s", dir, names.v[i]);
        struct stat s;
        all += stat(path, &s) ? 0 : s.st_size;
    }
    return all;
}

static bool visits_begun(const struct job *j)
{
    AUTO(trial_ranks_free) struct trial_ranks r = {0};
    bool begun = false;
    if (trial_ranks_read(&r, j->ranks.path))
        return false;
    for (size_t i = 0; i < r.n; i++)
        begun = begun || r.v[i].begun;
    return begun;
}

/* No visit ends any more. Before the first one the job may load its data, and find its step. */
static bool is_silent(struct job *j)
{
    double now = clock_now_s();
    off_t size = written(j->ranks.path);
    if (size != j->written) {
        j->silent_s = fmax(j->silent_s, 4 * (now - j->wrote_at));
        j->written = size;
        j->wrote_at = now;
        return false;
    }
    double limit = (double)j->o->deadline.value, silent = now - j->wrote_at;
    if (silent <= limit)
        return false;
    return visits_begun(j) ? silent > fmin(j->silent_s, 10 * limit) : silent > START * limit;
}

/* The results are thrown away, so nobody waits for the rest of the job. */
static int while_priced(struct job *j)
{
    int code = collect(j, false, 0);
    if (code || j->recorded || j->captured)
        return code ? code : JOB_END;
    j->hung = is_silent(j);
    return j->hung ? JOB_END : GS_OK;
}

static int fail_hung(const struct job *j)
{
    double silent = clock_now_s() - j->wrote_at;
    return visits_begun(j)
               ? fail(GS_FAILED,
                      "price: the job completed no visit for %.0f s and was killed: what it does "
                      "next may depend on values that were not communicated",
                      silent)
               : fail(GS_FAILED,
                      "price: no step was found for %.0f s, and the job was killed; if it needs "
                      "longer to begin, use a longer --deadline",
                      silent);
}

/* ---- the job ---- */

static int while_it_runs(void *ctx)
{
    struct job *j = ctx;
    job_watch_look(j->watch);
    if (j->price)
        return while_priced(j);
    return j->recorded ? GS_OK : collect(j, false, 0);
}

/* In the process of the command alone. A profiler that the user has is left in place: then nothing
 * reports what NCCL ran. What the user preloads comes first, and stays. */
static void prepare(void *ctx)
{
    const struct job *j = ctx;
    const char *profiler = getenv("NCCL_PROFILER_PLUGIN"), *theirs = getenv("LD_PRELOAD");
    if (!j->price) {
        setenv("NCCL_TUNER_PLUGIN", j->object, 1);
        setenv("GRADSYNC_TRIAL", j->ranks.config, 1);
        if (!(profiler && *profiler) && !is_plugin("libnccl-profiler.so", "ncclProfiler"))
            setenv("NCCL_PROFILER_PLUGIN", j->object, 1);
        return;
    }
    bool preloads = theirs && *theirs;
    AUTO_FREE char *both = preloads ? xstrfmt("%s:%s", theirs, j->object) : xstrdup(j->object);
    if (preloads)
        say("price: LD_PRELOAD is set, and stays: %s", theirs);
    setenv("LD_PRELOAD", both, 1);
    setenv("GRADSYNC_PRICE", j->ranks.config, 1);
}

static int launch(struct job *j, int *status)
{
    AUTO_FREE char *text = config_text(j);
    int code = trial_folder_make(&j->ranks, j->o->out, text);
    if (code)
        return code;
    const struct job_foreground child = {j->command, while_it_runs, prepare,
                                         j,          j->o->log,     &j->answer.caught};
    j->recorded = j->captured = j->hung = false;
    j->looked_at = 0;
    j->written = 0;
    j->silent_s = 0;
    j->wrote_at = clock_now_s();
    j->watch = job_watch_new();
    if (j->price)
        say("price: this launch is thrown away: its results are worthless, and it ends once the "
            "price is "
            "known");
    code = job_foreground(&child, status);
    if (!code && j->hung)
        code = fail_hung(j);
    if (!code && !j->recorded)
        code = collect(j, true, *status);
    job_watch_free(j->watch);
    trial_folder_remove(&j->ranks);
    return code;
}

/* Also of the launches before one that failed or was interrupted. */
static int seal(const struct job *j)
{
    int code = manifest_write(j->run);
    if (!j->o->answer)
        say("trial: %s; next: gradsync compare %s", j->run, SHELL_WORD(j->run));
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

static int find_object(struct job *j)
{
    const char *name = j->price ? JOB_OBJECT : "libnccl-tuner-gradsync.so";
    AUTO_FREE char *installed = xstrfmt("../lib/gradsync/%s", name);
    j->object = job_beside(name, installed);
    return j->object
               ? GS_OK
               : fail(GS_CANNOT, "%s: %s is not beside gradsync in %s; build it with 'make all'",
                      j->price ? "price" : "trial", name, program_dir());
}

/* An error without who reported it. */
static const char *without_name(const char *why)
{
    static const char *const names[] = {"gradsync: ", "price: ", "trial: "};
    for (size_t i = 0; i < COUNT(names); i++)
        if (!strncmp(why, names[i], strlen(names[i])))
            why += strlen(names[i]);
    return why;
}

int trial_job(const struct trial_options *o, char **command)
{
    struct job j = {.o = o, .command = command};
    int status = 0;
    if (o->answer)
        err_capture_first(j.why, sizeof j.why);
    int code = read_arms(&j.arms, o->arms);
    j.price = !code && are_price(&j.arms);
    code = code || j.price ? code : check_tuner();
    if (!code && j.price && o->keep_best)
        code = fail(GS_USAGE, "trial: --keep-best: a job without communication is of no use");
    code = code ? code : job_recording_folder("trial", o->platform, o->out);
    if (!code)
        code = find_object(&j);
    for (j.launch = 1; j.object && more_to_come(&j) && !code && !status; j.launch++) {
        code = launch(&j, &status);
        if (j.run && !code)
            code = launches_tell(&j.told, "trial", j.run);
    }
    if (status && !j.recorded)
        say_unrecorded(&j, status);
    if (j.run && !code)
        code = seal(&j);
    if (o->answer) {
        err_capture(NULL, 0);
        *o->answer = j.answer;
        if (!j.answer.known && !*j.answer.why)
            snprintf(o->answer->why, sizeof o->answer->why, "%s", without_name(j.why));
        *o->run = j.run ? xstrdup(j.run) : NULL;
    }
    words_free(&j.arms);
    free(j.told.v);
    free(j.object);
    free(j.run);
    return status ? status : code;
}

int trial_price(const struct trial_options *o, char **command, struct price_answer *a, char **run)
{
    struct trial_options price = *o;
    *a = (struct price_answer){0};
    price.arms = "none,one,half";
    price.answer = a;
    price.run = run;
    price.launches.value = 1;
    return trial_job(&price, command);
}
