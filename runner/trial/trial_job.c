/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/trial_job.h"

#include "base/err.h"
#include "base/files.h"
#include "base/printable.h"
#include "base/program_dir.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "nccl_tuner/trial_config.h"
#include "record/manifest.h"
#include "record/record.h"
#include "trial/trial_arms.h"
#include "trial/trial_child.h"
#include "trial/trial_environment.h"
#include "trial/trial_recording.h"
#include "trial/trial_result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct job {
    const struct trial_options *o;
    char **command;
    struct words arms;            /* the baseline first */
    char *tuner, *ranks, *config; /* the plugin; the folder of the ranks; the trial's file */
    struct job_watch *watch;      /* of this launch */
    char *run;                    /* the run folder; NULL until there is something for it */
    int launch;
    size_t looked_at;        /* this launch: blocks, to see whether it can end */
    bool recorded, captured; /* this launch; the user knows that nothing can be switched */
};

/* ---- before ---- */

/* NULL, reported: it is not there. */
static char *find_tuner(void)
{
    static const char *const places[] = {"libnccl-tuner-gradsync.so",
                                         "../lib/gradsync/libnccl-tuner-gradsync.so"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path = xstrfmt("%s/%s", program_dir(), places[i]);
        if (!access(path, R_OK))
            return path;
        free(path);
    }
    fail(GS_CANNOT,
         "trial: libnccl-tuner-gradsync.so is not beside gradsync in %s; build it with 'make all'",
         program_dir());
    return NULL;
}

static char *config_text(const struct job *j)
{
    const struct trial_options *o = j->o;
    struct text t = {0};
    text_addf(&t, "out = %s\n", j->ranks);
    for (size_t i = 0; i < j->arms.n; i++)
        text_addf(&t, "arm = %s\n", j->arms.v[i]);
    text_addf(&t,
              "seed = %ld\nsteps = %ld\nvisit_s = %ld\nwarmup = %ld\nblocks = %ld\nminutes = %ld\n"
              "calls = %ld\nranks = %ld\n",
              o->seed.value + j->launch - 1, o->steps.value, o->visit_s.value, o->warmup.value,
              o->blocks.value, o->minutes.value, o->calls.value, o->ranks.value);
    return t.s;
}

/* In the folder of the recordings, which all nodes of the job must see. */
static int make_folder(struct job *j)
{
    AUTO_FREE char *root = realpath(j->o->out, NULL);
    if (!root)
        return fail_file(j->o->out, "written to", errno);
    j->ranks = xstrfmt("%s/.trial.XXXXXX", root);
    if (!mkdtemp(j->ranks))
        return fail_file(j->ranks, "made", errno);
    AUTO_FREE char *agree = xstrfmt("%s/agree", j->ranks);
    if (mkdir(agree, 0777))
        return fail_file(j->ranks, "written to", errno);
    j->config = xstrfmt("%s/trial.txt", j->ranks);
    AUTO_FREE char *text = config_text(j);
    bool written = files_write_new(j->config, text, 0666);
    return written ? GS_OK : fail_file(j->config, "written", errno);
}

static void empty(const char *dir)
{
    AUTO_WORDS struct words names = {0};
    files_list(dir, NULL, &names);
    for (size_t i = 0; i < names.n; i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s", dir, names.v[i]);
        unlink(path);
    }
}

/* A job that still runs cannot write to it any more; its trial is over. */
static void remove_folder(struct job *j)
{
    AUTO_FREE char *agree = j->ranks ? xstrfmt("%s/agree", j->ranks) : NULL;
    if (agree) {
        empty(agree);
        rmdir(agree);
        empty(j->ranks);
        rmdir(j->ranks);
    }
    free(j->ranks);
    free(j->config);
    j->ranks = j->config = NULL;
}

static int make_out(const char *out)
{
    AUTO_FREE char *slashed = xstrfmt("%s/", out), *failed = files_make_above(slashed);
    return failed ? fail_file(failed, "made", errno) : GS_OK;
}

/* ---- after ---- */

static int record(struct job *j, const struct trial_comm *c)
{
    const struct trial_source s = {.platform = j->o->platform,
                                   .dir = j->run,
                                   .command = j->command,
                                   .seed = (uint64_t)(j->o->seed.value + j->launch - 1),
                                   .launch = j->launch,
                                   .complete = c->over >= c->ranks,
                                   .job = j->watch};
    int code = trial_recording_write(c, &s);
    if (!code)
        say("trial: launch %d: a step of %lld collectives and %.1f MB; %zu visits, %lld dropped",
            j->launch, (long long)c->step_calls, (double)c->step_bytes / 1e6, c->n,
            (long long)c->dropped);
    if (!code)
        trial_result_say(c);
    return code;
}

/* The ranks look for it while they hold, and all of them take it at the same call (agree.h). */
static void keep_best(const struct job *j, const struct trial_comm *c)
{
    const char *best = trial_result_best(c);
    char number[32], *path = xstrfmt("%s/keep", j->ranks), *aside = xstrfmt("%s/.keep", j->ranks);
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
    AUTO_FREE char *path = xstrfmt("%s/stop", j->ranks);
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
    int code = trial_ranks_read(&r, j->ranks);
    if (code)
        return ended ? code : GS_OK;
    const struct trial_comm *c = trial_ranks_lead(&r);
    bool over = c && c->over >= c->ranks;
    if (!ended && !c)
        warn_captured(j, &r);
    if (!ended && c && !over)
        end_early(j, c);
    if (ended && !c && !status)
        code = trial_result_explain(&r, j->o->calls.value);
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

/* ---- the job ---- */

static int while_it_runs(void *ctx)
{
    struct job *j = ctx;
    job_watch_look(j->watch);
    return j->recorded ? GS_OK : collect(j, false, 0);
}

static int launch(struct job *j, int *status)
{
    int code = make_folder(j);
    if (code || !j->config)
        return code;
    trial_environment_set(j->tuner, j->config);
    j->recorded = j->captured = false;
    j->looked_at = 0;
    j->watch = job_watch_new();
    code = trial_child(j->command, while_it_runs, j, status);
    if (!code && !j->recorded)
        code = collect(j, true, *status);
    job_watch_free(j->watch);
    remove_folder(j);
    return code;
}

/* Also of the launches before one that failed or was interrupted. */
static int seal(const struct job *j)
{
    int code = manifest_write(j->run);
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

/* Before the job: its recording would be refused after it. */
static int check_platform(const char *name)
{
    return printable_name(name)
               ? GS_OK
               : fail(GS_USAGE, "trial: --platform '%s' is not a name (" PRINTABLE_NAME_RULE ")",
                      name);
}

int trial_job(const struct trial_options *o, char **command)
{
    struct job j = {.o = o, .command = command};
    int status = 0, code = check_platform(o->platform);
    code = code ? code : trial_environment_check();
    code = code ? code : trial_arms_read(&j.arms, o->arms);
    code = code ? code : make_out(o->out);
    if (!code && !(j.tuner = find_tuner()))
        code = GS_CANNOT;
    for (j.launch = 1; j.tuner && j.launch <= o->launches.value && !code && !status; j.launch++)
        code = launch(&j, &status);
    if (status && !j.recorded)
        say_unrecorded(&j, status);
    if (j.run && !code)
        code = seal(&j);
    words_free(&j.arms);
    free(j.tuner);
    free(j.run);
    return status ? status : code;
}
