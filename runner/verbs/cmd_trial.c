/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/units.h"
#include "job/trial.h"
#include "verbs/commands.h"

#include <limits.h>
#include <math.h>
#include <time.h>

struct request {
    struct trial_options o;
    const char *minutes; /* "1.5" */
};

static int trial(void *request, char **words, int n)
{
    struct request *q = request;
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
    struct request q = {.minutes = "10",
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
         "for the "
         "price of communication: that many elements of each large collective are communicated; "
         "required"},
        {"minutes", 'm', CLI_TEXT, &q.minutes, "N",
         "end the trial after N minutes at most, e.g. 1.5; 0: no limit (default 10); the job then "
         "continues "
         "with NCCL's own settings"},
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
        .verb = "trial",
        .arguments = "-- COMMAND...",
        .summary =
            "Compares NCCL settings inside a training job: runs the command, switches the "
            "settings between blocks of its steps, and records the time of each and whether "
            "NCCL honoured it. Needs NCCL 2.22 or newer, and collectives outside of CUDA "
            "graphs. If the job has a tuner already, set NCCL_TUNER_PLUGIN=none to replace it.",
        .example = "gradsync trial --arms ctas=16,ring/LL128 -- torchrun train.py",
        .options = options,
        .min_args = 1,
        .max_args = -1};
    return cli_request(&cli, argc, argv, trial, &q);
}
