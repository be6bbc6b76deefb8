/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/text.h"
#include "limits/limits.h"
#include "limits/limits_table.h"
#include "verbs/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void say_counts(const char *kind, const size_t counts[LIMITS_VERDICTS])
{
    AUTO_TEXT struct text t = {0};
    for (size_t i = 0; i < LIMITS_VERDICTS; i++)
        if (counts[i])
            text_addf(&t, "%s %zu %s", t.len ? "," : "", counts[i], limits_verdicts[i]);
    if (t.len)
        say("%s:%s", kind, t.s);
}

static bool any(size_t counts[2][LIMITS_VERDICTS])
{
    for (size_t i = 0; i < LIMITS_VERDICTS; i++)
        if (counts[0][i] || counts[1][i])
            return true;
    return false;
}

struct request {
    const char *dir; /* NULL: the table is only printed */
    bool quiet;
};

#define TABLES "data/csv"

/* The table of data/csv is of every config: figures and paper are made from it. One that was asked
 * for some configs does not take its place. */
static int print_only(const struct request *q, const char *const *configs, size_t n,
                      size_t counts[2][LIMITS_VERDICTS])
{
    AUTO_WORDS struct words platforms = {0};
    char folder[] = "/tmp/gradsync-limits-XXXXXX";
    if (!mkdtemp(folder))
        return fail_file(folder, "created", errno);
    int code = limits_write(TABLES, folder, configs, n, counts, &platforms);
    if (!code && !q->quiet)
        code = limits_print(folder, &platforms, false);
    AUTO_FREE char *path = xstrfmt("%s/" LIMITS_CSV, folder);
    unlink(path);
    rmdir(folder);
    return code;
}

static int write_and_print(const struct request *q, const char *const *configs, size_t n,
                           size_t counts[2][LIMITS_VERDICTS])
{
    AUTO_WORDS struct words platforms = {0};
    int code = limits_write(q->dir, q->dir, configs, n, counts, &platforms);
    return code || q->quiet ? code : limits_print(q->dir, &platforms, true);
}

static int limits(void *request, char **configs, int n)
{
    const struct request *q = request;
    size_t counts[2][LIMITS_VERDICTS] = {0};
    const char *const *paths = (const char *const *)configs;
    int code = q->dir ? write_and_print(q, paths, (size_t)n, counts)
                      : print_only(q, paths, (size_t)n, counts);
    if (code)
        return code;
    fflush(stdout); /* both may go to one file */
    say_counts("published", counts[0]);
    say_counts("measured", counts[1]);
    if (!any(counts))
        say("nothing is published or measured of the platforms of these configs");
    return GS_OK;
}

int cmd_limits(int argc, char **argv)
{
    struct request q = {0};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.dir, "CSV",
         "read summary.csv of this folder and write limits.csv there (default: read data/csv, "
         "write nothing)"},
        {"quiet", 'q', CLI_QUIET, &q.quiet, NULL, "print errors only, no table"},
        {0},
    };
    const struct cli cli = {.verb = "limits",
                            .arguments = "CONFIG…",
                            .summary = "Compares measured and published numbers of the configs' "
                                       "platforms with physical limits.",
                            .example = "gradsync limits configs/h200-4gpu.ini",
                            .options = options,
                            .min_args = 1,
                            .max_args = -1};
    return cli_request(&cli, argc, argv, limits, &q);
}
