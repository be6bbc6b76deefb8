/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/text.h"
#include "base/units.h"
#include "config/settings.h"
#include "job/trial.h"
#include "job/tune.h"
#include "launch/launcher.h"
#include "launch/run.h"
#include "verbs/commands.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

/* ---- train ---- */

struct train_request {
    struct run_options options;
    const char **overrides;
};

static int train(void *request, char **words, int n)
{
    (void)n;
    struct train_request *q = request;
    CHECK(launcher_refuse_ranks("train"));
    q->options.overrides = q->overrides;
    return run_config(words[0], &q->options);
}

int cmd_train(int argc, char **argv)
{
    struct train_request q = {.options = {.data = RUN_DATA, .workload = TRAIN_WORKLOAD}};
    const struct cli_option table[] = {
        CLI_SET_ROW(&q.overrides),
        {"output", 'o', CLI_TEXT, &q.options.data, "RAW",
         "folder for the recordings (default data/raw)"},
        {"workload", 'w', CLI_TEXT, &q.options.workload, "SECTION",
         "run only this section, e.g. 'train small' (default: every [train])"},
        {"quiet", 'q', CLI_QUIET, &q.options.quiet, NULL, "print errors only, no progress"},
        {"json", 0, CLI_FLAG, &q.options.json, NULL, "print a summary as JSON"},
        {0}};
    const struct cli cli = {
        .arguments = "CONFIG",
        .summary =
            "Compares settings of your own training command: launches the command of [train] "
            "anew for each config, several times and in random order, and records the step "
            "times that it prints. Works with any program that prints times.",
        .example = "gradsync train my.ini --set measure:launches=3",
        .options = table,
        .args = {1, 1}};
    return cli_request(&cli, argc, argv, train, &q);
}

/* ---- trial ---- */

struct trial_request {
    struct trial_options o;
    const char *minutes; /* "1.5" */
};

static int trial(void *request, char **words, int n)
{
    struct trial_request *q = request;
    struct trial_options *o = &q->o;
    double minutes;
    (void)n;
    if (!units_parse_real(q->minutes, &minutes) || minutes < 0 || minutes > 1e6)
        return fail(GS_USAGE, "trial: --minutes '%s': must be a number from 0 to 1000000, e.g. 1.5",
                    q->minutes);
    o->seconds = (long)ceil(60 * minutes);
    return o->arms ? trial_job(o, words)
                   : fail(GS_USAGE, "trial: --arms is missing; e.g. --arms ctas=16,ring/LL128");
}

int cmd_trial(int argc, char **argv)
{
    struct trial_request q = {.minutes = "10",
                              .o = {.platform = "job",
                                    .out = "data/raw",
                                    .launches = {1, 1, 99},
                                    .steps = {0, 0, 256},
                                    .visit_s = {2, 1, 3600},
                                    .warmup = {20, 0, 1000000},
                                    .blocks = {0, 0, 1000000},
                                    .calls = {0, 0, 32768},
                                    .ranks = {0, 0, 1 << 24},
                                    .deadline = {120, 1, 1000000},
                                    .seed = {(long)time(NULL), 0, LONG_MAX}}};
    const struct cli_option options[] = {
        {"arms", 'a', CLI_TEXT, &q.o.arms, "LIST",
         "settings to compare with auto, NCCL's own choice, separated by commas: ctas=N, an "
         "algorithm, a protocol, or several joined by '/' (ring/LL128/ctas=8); or none,one,half, "
         "for the price of communication: that many elements of each large collective are "
         "communicated; "
         "required"},
        {"minutes", 'm', CLI_TEXT, &q.minutes, "N",
         "end the trial after N minutes at most, e.g. 1.5; 0: no limit (default 10); the job then "
         "continues with NCCL's own settings"},
        {"blocks", 'b', CLI_INT, &q.o.blocks, "N",
         "end the trial after N blocks; 0: as soon as each setting has a verdict (default 0)"},
        {"visit", 0, CLI_INT, &q.o.visit_s, "S",
         "seconds that a setting runs before the next one (default 2)"},
        {"steps", 0, CLI_INT, &q.o.steps, "N",
         "steps that a setting runs before the next one, instead of --visit"},
        {"warmup", 0, CLI_INT, &q.o.warmup, "N", "steps before the trial begins (default 20)"},
        {"calls", 0, CLI_INT, &q.o.calls, "N",
         "collectives per step; 0: detect from their sequence (default 0)"},
        {"ranks", 0, CLI_INT, &q.o.ranks, "N",
         "switch settings in communicators of N ranks; 0: in those of all ranks (default 0)"},
        {"deadline", 0, CLI_INT, &q.o.deadline, "S",
         "seconds without a visit after which a job without communication is killed (default 120)"},
        {"keep-best", 'k', CLI_FLAG, &q.o.keep_best, NULL,
         "continue the job with the fastest setting if it was shown to be faster than auto"},
        {"launches", 'l', CLI_INT, &q.o.launches, "N", "run the command N times (default 1)"},
        {"seed", 0, CLI_INT, &q.o.seed, "N",
         "seed of the order of the settings (default: the time)"},
        {"platform", 'p', CLI_TEXT, &q.o.platform, "NAME",
         "name of the platform in the recording (default job)"},
        {"output", 'o', CLI_TEXT, &q.o.out, "RAW",
         "folder for the recording, on a file system that all ranks see (default data/raw)"},
        CLI_QUIET_ROW,
        {0}};
    const struct cli cli = {
        .arguments = "-- COMMAND...",
        .summary =
            "Compares NCCL settings inside a training job: runs the command, switches the "
            "settings between blocks of its steps, and records the time of each and whether "
            "NCCL honoured it. Needs NCCL 2.22 or newer, and collectives outside of CUDA "
            "graphs. If the job has a tuner already, set NCCL_TUNER_PLUGIN=none to replace it.",
        .example = "gradsync trial --arms ctas=16,ring/LL128 -- torchrun train.py",
        .options = options,
        .args = {1, -1}};
    return cli_request(&cli, argc, argv, trial, &q);
}

/* ---- tune ---- */

static int tune(void *request, char **words, int n)
{
    (void)n;
    return tune_job(request, words);
}

int cmd_tune(int argc, char **argv)
{
    struct tune_options o = {.platform = "job",
                             .out = "data/raw",
                             .minutes = "10",
                             .worth = "1%",
                             .memory = "10%",
                             .emit = "env",
                             .launches = {4, 2, 99},
                             .seed = {(long)time(NULL), 0, LONG_MAX}};
    const struct cli_option options[] = {
        {"minutes", 'm', CLI_TEXT, &o.minutes, "N",
         "time for everything, kept within 10% (default 10)"},
        {"worth", 0, CLI_TEXT, &o.worth, "SHARE",
         "smallest gain of interest, as a share of the step (default 1%)"},
        {"candidates", 'c', CLI_TEXT, &o.candidates, "FILE",
         "settings to try besides those of gradsync: lines LINK: NAME=VALUE ... (docs/tune.md)"},
        {"only", 0, CLI_TEXT, &o.only, "WORDS",
         "try only settings that contain one of these words, separated by commas"},
        {"lossy", 0, CLI_FLAG, &o.lossy, NULL,
         "try settings that change the arithmetic, too (bf16 gradients)"},
        {"memory", 0, CLI_TEXT, &o.memory, "SHARE",
         "advise no setting that needs more GPU memory than this share (default 10%)"},
        {"launches", 'l', CLI_INT, &o.launches, "N",
         "launches of the proof; 3 if time is short (default 4)"},
        {"emit", 'e', CLI_TEXT, &o.emit, "FORM",
         "form of the lines to paste: env, pytorch or sbatch (default env)"},
        {"dry-run", 'n', CLI_FLAG, &o.dry_run, NULL, "print what would be tried; start nothing"},
        {"no-price", 0, CLI_FLAG, &o.no_price, NULL,
         "leave out the price: no launch without communication"},
        {"seed", 0, CLI_INT, &o.seed, "N", "seed of the order of the settings (default: the time)"},
        {"platform", 'p', CLI_TEXT, &o.platform, "NAME",
         "name of the platform in the recordings (default job)"},
        {"output", 'o', CLI_TEXT, &o.out, "RAW",
         "folder for the recordings, on a file system that all ranks see (default data/raw)"},
        CLI_QUIET_ROW,
        {0}};
    const struct cli cli = {
        .arguments = "-- COMMAND...",
        .summary =
            "Says what communication costs your training job, and which setting gets it back: "
            "launches the command anew with one setting after the other, ends each launch after "
            "some steps, and proves the best in launches that did not choose it. The command "
            "needs no change.",
        .example = "gradsync tune -- torchrun --nproc-per-node 2 train.py",
        .options = options,
        .args = {1, -1}};
    return cli_request(&cli, argc, argv, tune, &o);
}
