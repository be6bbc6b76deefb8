/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/text.h"
#include "config/train_settings.h"
#include "launch/joined.h"
#include "launch/run.h"
#include "verbs/commands.h"

#include <stdlib.h>

int cmd_train(int argc, char **argv)
{
    struct run_options options = {.data = RUN_DATA, .workload = TRAIN_WORKLOAD};
    const char **overrides = NULL;
    const struct cli_option table[] = {
        {"set", 's', CLI_LIST, &overrides, "SECTION:KEY=VALUE",
         "override a key of the config; may be repeated"},
        {"output", 'o', CLI_TEXT, &options.data, "DATA",
         "folder for the recordings (default data/raw)"},
        {"workload", 'w', CLI_TEXT, &options.workload, "SECTION",
         "run only this section, e.g. 'train small' (default: every [train])"},
        {"quiet", 'q', CLI_FLAG, &options.quiet, NULL, "print errors only, no progress"},
        {"json", 0, CLI_FLAG, &options.json, NULL, "print a summary as JSON"},
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
    char **args = xcalloc((size_t)argc + 1, sizeof *args);
    int n;
    bool done;
    struct joined ranks;
    int code = cli_parse(&cli, argc, argv, args, &n, &done);
    options.overrides = overrides;
    say_quiet(options.quiet);
    if (!code && !done && joined_find(&ranks))
        code = fail(GS_USAGE,
                    "train: a launcher started %d of it; the command starts its own "
                    "ranks, so run gradsync once",
                    ranks.ranks);
    if (!code && !done)
        code = run_config(args[0], &options);
    cli_free(&cli);
    free(args);
    return code;
}
