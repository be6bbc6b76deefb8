/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/locate.h"
#include "base/text.h"
#include "reduce/reduce.h"
#include "verbs/commands.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_OUT "data/csv"

struct request {
    const char *out, *run;
    bool merge;
};

/* Only a folder that the user named may lose the tables of all other recordings. */
static int check_default(const struct request *q, const char *root)
{
    size_t n = strlen(LOCATE_DATA);
    bool all = !strncmp(root, LOCATE_DATA, n) && !root[n + (root[n] == '/')];
    if (q->out || q->merge || all || access(DEFAULT_OUT "/summary.csv", F_OK))
        return GS_OK;
    return fail(GS_USAGE,
                "reduce: the tables in " DEFAULT_OUT
                " would be replaced by those of %s alone: name "
                "a folder for these, --output DIR; all tables again: make tables",
                root);
}

static int reduce(void *request, char **words, int n_words)
{
    static const char *const default_root = LOCATE_DATA;
    const struct request *q = request;
    const char *const *roots = (const char *const *)words;
    size_t n = (size_t)n_words;
    if (q->merge && q->run)
        return fail(GS_USAGE, "reduce: --run excludes --merge");
    if (q->run && n)
        return fail(GS_USAGE, "reduce: --run RUN takes no other folder");
    const char *out = q->out ? q->out : DEFAULT_OUT;
    int code = check_default(q, q->run ? q->run : n ? roots[0] : LOCATE_DATA);
    if (code)
        return code;
    if (q->run)
        return reduce_run(q->run, out);
    if (q->merge)
        return n ? reduce_merge(roots, n, out)
                 : fail(GS_USAGE, "reduce: --merge needs the parts that --run wrote");
    return reduce_trees(n ? roots : &default_root, n ? n : 1, out);
}

int cmd_reduce(int argc, char **argv)
{
    struct request q = {0};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.out, "CSV", "folder for the tables (default " DEFAULT_OUT ")"},
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
