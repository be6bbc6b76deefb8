/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include "commands.h"
#include "err.h"
#include "text.h"
#include "trial_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int check(const struct trial_options *o)
{
    const struct {
        const char *name;
        long value, least, most;
    } rows[] = {
        {"launches", o->launches, 1, 99},  {"steps", o->steps, 0, 256},
        {"visit", o->visit_s, 1, 3600},    {"warmup", o->warmup, 0, 1000000},
        {"blocks", o->blocks, 0, 1000000}, {"minutes", o->minutes, 0, 1000000},
        {"calls", o->calls, 0, 32768},     {"ranks", o->ranks, 0, 1 << 24},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value < rows[i].least || rows[i].value > rows[i].most)
            return fail(GS_USAGE, "trial: --%s %ld: must be %ld to %ld", rows[i].name,
                        rows[i].value, rows[i].least, rows[i].most);
    return o->arms ? GS_OK : fail(GS_USAGE, "trial: --arms is missing: ctas=16,ring/LL128");
}

int cmd_trial(int argc, char **argv)
{
    bool done, quiet = false;
    struct trial_options o = {.platform = "job",
                              .out = "data/raw",
                              .launches = 1,
                              .visit_s = 2,
                              .warmup = 20,
                              .minutes = 10,
                              .seed = (long)time(NULL)};
    const struct cli_option options[] = {
        {"arms", 'a', CLI_TEXT, &o.arms, "LIST",
         "settings to compare with auto, NCCL's own choice: ctas=N, an algorithm, a protocol, or "
         "several joined by '/' (ring/LL128/ctas=8)"},
        {"minutes", 'm', CLI_INT, &o.minutes, "N",
         "end the trial after N minutes, 0: no limit (10); the job goes on as without it"},
        {"blocks", 'b', CLI_INT, &o.blocks, "N", "end it after N blocks, 0: no limit (0)"},
        {"visit", 0, CLI_INT, &o.visit_s, "S", "seconds for which an arm is kept (2)"},
        {"steps", 0, CLI_INT, &o.steps, "N", "steps for which an arm is kept, instead of --visit"},
        {"warmup", 0, CLI_INT, &o.warmup, "N", "steps before the first visit (20)"},
        {"calls", 0, CLI_INT, &o.calls, "N",
         "collectives in a step, 0: find them from their sequence (0)"},
        {"ranks", 0, CLI_INT, &o.ranks, "N",
         "switch communicators of N ranks, 0: those of the whole job (0)"},
        {"keep-best", 'k', CLI_FLAG, &o.keep_best, NULL,
         "after the trial go on with the fastest arm, if its interval lies below auto's time"},
        {"launches", 'l', CLI_INT, &o.launches, "N", "run the command N times (1)"},
        {"seed", 0, CLI_INT, &o.seed, "N", "seed of the order of the arms (the time)"},
        {"platform", 'p', CLI_TEXT, &o.platform, "NAME", "name of the platform recorded (job)"},
        {"out", 'o', CLI_TEXT, &o.out, "RAW",
         "folder for the recording, on a file system that all ranks see (data/raw)"},
        {"quiet", 'q', CLI_FLAG, &quiet, NULL, "print errors only"},
        {0}};
    const struct cli cli = {"trial",
                            "-- COMMAND...",
                            "Compares NCCL settings inside a training job: runs the command, "
                            "switches the settings between blocks of its steps, and records the "
                            "time of each. NCCL 2.22 or newer; replaces a tuner that a network "
                            "plugin brings (aws-ofi-nccl).",
                            options,
                            1,
                            -1};
    char **args = xcalloc((size_t)argc + 1, sizeof *args);
    int n, code = cli_parse(&cli, argc, argv, args, &n, &done);
    say_quiet(quiet);
    if (!code && !done)
        code = check(&o);
    if (!code && !done)
        code = trial_job(&o, args);
    free(args);
    return code;
}
