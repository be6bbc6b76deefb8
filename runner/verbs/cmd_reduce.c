/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/text.h"
#include "reduce/reduce.h"
#include "verbs/commands.h"

#include <stdlib.h>

struct request {
    const char *out, *run;
    bool merge;
    const char **args;
    size_t n;
};

static int reduce(const struct request *q)
{
    static const char *const default_root = "data/raw";
    if (q->merge && q->run)
        return fail(GS_USAGE, "reduce: --run excludes --merge");
    if (q->run && q->n)
        return fail(GS_USAGE, "reduce: --run RUN takes no other folder");
    if (q->run)
        return reduce_run(q->run, q->out);
    if (q->merge)
        return q->n ? reduce_merge(q->args, q->n, q->out)
                    : fail(GS_USAGE, "reduce: --merge needs the parts that --run wrote");
    return reduce_trees(q->n ? q->args : &default_root, q->n ? q->n : 1, q->out);
}

int cmd_reduce(int argc, char **argv)
{
    struct request q = {.out = "data/csv"};
    bool quiet = false, done;
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.out, "CSV", "folder for the tables (default data/csv)"},
        {"run", 0, CLI_TEXT, &q.run, "RUN", "reduce only this run folder, to a part for --merge"},
        {"merge", 0, CLI_FLAG, &q.merge, NULL,
         "merge the parts PART… that --run wrote, instead of reducing"},
        {"quiet", 'q', CLI_FLAG, &quiet, NULL, "print errors only"},
        {0},
    };
    const struct cli cli = {.verb = "reduce",
                            .arguments = "[RAW…]",
                            .summary = "Turns the recordings below RAW (default data/raw) into "
                                       "tables: samples.csv, launches.csv, summary.csv and others.",
                            .example = "gradsync reduce data/raw --output data/csv",
                            .options = options,
                            .min_args = 0,
                            .max_args = -1};
    char **args = xcalloc((size_t)argc, sizeof *args);
    int n, code = cli_parse(&cli, argc, argv, args, &n, &done);
    say_quiet(quiet);
    q.args = (const char **)args;
    q.n = (size_t)n;
    if (!code && !done)
        code = reduce(&q);
    free(args);
    return code;
}
