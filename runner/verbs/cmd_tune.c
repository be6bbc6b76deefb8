/* SPDX-License-Identifier: Apache-2.0 */
#include "job/tune.h"
#include "verbs/commands.h"

#include <limits.h>
#include <time.h>

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
        .verb = "tune",
        .arguments = "-- COMMAND...",
        .summary =
            "Says what communication costs your training job, and which setting gets it back: "
            "launches the command anew with one setting after the other, ends each launch after "
            "some steps, and proves the best in launches that did not choose it. The command "
            "needs no change.",
        .example = "gradsync tune -- torchrun --nproc-per-node 2 train.py",
        .options = options,
        .min_args = 1,
        .max_args = -1};
    return cli_request(&cli, argc, argv, tune, &o);
}
