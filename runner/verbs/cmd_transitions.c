/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/text.h"
#include "curves/transitions.h"
#include "curves/transitions_table.h"
#include "verbs/commands.h"

/* "found: 12 switch (12 recorded), 204 knee (201 confirmed); 101 curves refused" */
static void say_counts(const struct transition_counts *c, const char *dir)
{
    struct text t = {0};
    for (size_t i = 0; i < TRANSITION_FIT; i++)
        if (c->found[i])
            text_addf(&t, "%s%zu %s (%zu %s)", t.len ? ", " : "", c->found[i], transition_names[i],
                      c->confirmed[i],
                      i == TRANSITION_SWITCH || i == TRANSITION_CTAS ? "recorded" : "confirmed");
    say("found: %s; %zu curve%s refused as too short or irregular; details: %s/%s",
        t.len ? t.s : "nothing", c->found[TRANSITION_REFUSED],
        c->found[TRANSITION_REFUSED] == 1 ? "" : "s", dir, TRANSITIONS_CSV);
    text_free(&t);
}

int cmd_transitions(int argc, char **argv)
{
    bool quiet = false, done;
    const struct cli_option options[] = {
        {"quiet", 'q', CLI_FLAG, &quiet, NULL, "print errors only, no table"},
        {0},
    };
    const struct cli cli = {
        .verb = "transitions",
        .arguments = "[CSV]",
        .summary = "Finds protocol switches, kinks, knees, dips and spikes in the curves of "
                   "CSV/launches.csv, and writes CSV/transitions.csv (default CSV: data/csv).",
        .example = "gradsync transitions data/csv",
        .options = options,
        .min_args = 0,
        .max_args = 1};
    char *args[1] = {NULL};
    int n, code = cli_parse(&cli, argc, argv, args, &n, &done);
    if (code || done)
        return code;
    struct transition_counts counts;
    const char *dir = n ? args[0] : "data/csv";
    say_quiet(quiet);
    code = transitions_write(dir, &counts);
    if (!code && !quiet)
        code = transitions_print(dir);
    if (!code)
        say_counts(&counts, dir);
    return code;
}
