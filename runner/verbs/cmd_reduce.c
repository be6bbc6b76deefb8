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
};

static int reduce(void *request, char **words, int n_words)
{
    static const char *const default_root = "data/raw";
    const struct request *q = request;
    const char *const *roots = (const char *const *)words;
    size_t n = (size_t)n_words;
    if (q->merge && q->run)
        return fail(GS_USAGE, "reduce: --run excludes --merge");
    if (q->run && n)
        return fail(GS_USAGE, "reduce: --run RUN takes no other folder");
    if (q->run)
        return reduce_run(q->run, q->out);
    if (q->merge)
        return n ? reduce_merge(roots, n, q->out)
                 : fail(GS_USAGE, "reduce: --merge needs the parts that --run wrote");
    return reduce_trees(n ? roots : &default_root, n ? n : 1, q->out);
}

int cmd_reduce(int argc, char **argv)
{
    struct request q = {.out = "data/csv"};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.out, "CSV", "folder for the tables (default data/csv)"},
        {"run", 0, CLI_TEXT, &q.run, "RUN",
         "reduce only this run folder; the result is a part for --merge"},
        {"merge", 0, CLI_FLAG, &q.merge, NULL,
         "merge parts into complete tables; the arguments are folders that --run wrote"},
        CLI_QUIET_ROW,
        {0},
    };
    const struct cli cli = {.verb = "reduce",
                            .arguments = "[RAW…]",
                            .summary = "Turns the recordings below RAW (default data/raw) into "
                                       "tables: samples.csv, launches.csv, summary.csv and others.",
                            .example = "gradsync reduce data/raw --output data/csv",
                            .options = options,
                            .max_args = -1};
    return cli_request(&cli, argc, argv, reduce, &q);
}
