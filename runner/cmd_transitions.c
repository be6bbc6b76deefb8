/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include "commands.h"
#include "err.h"
#include "verdict/transitions.h"

int cmd_transitions(int argc, char **argv)
{
    bool quiet = false, done;
    const struct cli_option options[] = {
        {"quiet", 'q', CLI_FLAG, &quiet, NULL, "say nothing but errors"},
        {0},
    };
    const struct cli cli = {"transitions",
                            "[CSV]",
                            "CSV/launches.csv (data/csv) to CSV/transitions.csv: knees, switches, "
                            "dips, spikes",
                            options,
                            0,
                            1};
    char *args[1] = {NULL};
    int n, code = cli_parse(&cli, argc, argv, args, &n, &done);
    if (code || done)
        return code;
    size_t features;
    const char *dir = n ? args[0] : "data/csv";
    say_quiet(quiet);
    code = transitions_write(dir, &features);
    if (!code)
        say("%zu feature%s in %s/%s", features, features == 1 ? "" : "s", dir, TRANSITIONS_CSV);
    return code;
}
