/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include "commands.h"
#include "err.h"
#include "joined_run.h"
#include "run.h"
#include "text.h"

#include <stdlib.h>
#include <sys/stat.h>

static int run(const char *what, const struct run_options *options)
{
    struct stat s;
    struct joined j;
    bool folder = stat(what, &s) == 0 && S_ISDIR(s.st_mode);
    if (folder && (options->overrides || options->workload))
        return fail(GS_USAGE, "run: --set and --workload change a plan, and that of a run folder "
                              "is fixed; run the config again");
    if (joined_find(&j))
        return joined_run(&j, what, options);
    return folder ? run_folder(what, options) : run_config(what, options);
}

int cmd_run(int argc, char **argv)
{
    struct run_options options = {.data = "data/raw"};
    const char **overrides = NULL;
    const struct cli_option table[] = {
        {"set", 's', CLI_LIST, &overrides, "SECTION:KEY=VALUE", "overrides the config; repeatable"},
        {"output", 'o', CLI_TEXT, &options.data, "DATA",
         "the folder of recordings (default data/raw)"},
        {"workload", 'w', CLI_TEXT, &options.workload, "NAME",
         "one workload section of the config alone"},
        {"quiet", 'q', CLI_FLAG, &options.quiet, NULL, "no progress, errors alone"},
        {"json", 0, CLI_FLAG, &options.json, NULL, "a summary on stdout"},
        {0}};
    const struct cli cli = {"run",
                            "CONFIG | RUN",
                            "measure what a config asks for, or what a run folder lacks",
                            table,
                            1,
                            1};
    char **args = xcalloc((size_t)argc, sizeof *args);
    int n;
    bool done;
    int code = cli_parse(&cli, argc, argv, args, &n, &done);
    options.overrides = overrides;
    say_quiet(options.quiet);
    if (!code && !done)
        code = run(args[0], &options);
    cli_free(&cli);
    free(args);
    return code;
}
