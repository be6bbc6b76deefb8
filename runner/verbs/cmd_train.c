/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/text.h"
#include "config/settings.h"
#include "launch/launcher.h"
#include "launch/run.h"
#include "verbs/commands.h"

#include <stdlib.h>

struct request {
    struct run_options options;
    const char **overrides;
};

static int train(void *request, char **words, int n)
{
    (void)n;
    struct request *q = request;
    int code = launcher_refuse_ranks("train");
    if (code)
        return code;
    q->options.overrides = q->overrides;
    return run_config(words[0], &q->options);
}

int cmd_train(int argc, char **argv)
{
    struct request q = {.options = {.data = RUN_DATA, .workload = TRAIN_WORKLOAD}};
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
        .verb = "train",
        .arguments = "CONFIG",
        .summary =
            "Compares settings of your own training command: launches the command of [train] "
            "anew for each config, several times and in random order, and records the step "
            "times that it prints. Works with any program that prints times.",
        .example = "gradsync train my.ini --set measure:launches=3",
        .options = table,
        .min_args = 1,
        .max_args = 1};
    return cli_request(&cli, argc, argv, train, &q);
}
