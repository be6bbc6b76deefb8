/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/text.h"
#include "limits/limits.h"
#include "store/export.h"
#include "verbs/commands.h"

#include <stdio.h>
#include <unistd.h>

struct request {
    const char *dir; /* NULL: the table is only printed */
    bool quiet;
};

/* The cells of a folder of tables; without one, of all recordings, or of data/csv if there are none. */
static int open_cells(struct store *s, const char *dir)
{
    bool all = !dir && store_has_recordings();
    AUTO_FREE char *path = xstrfmt("%s/summary.csv", dir ? dir : STORE_TABLES_DIR);
    if (all || !access(path, F_OK))
        return store_open_table(s, all || dir ? dir : STORE_TABLES_DIR, "summary", limits_reads);
    say("no %s: only published claims are checked; to check measurements, first run 'gradsync "
        "reduce'",
        path);
    int code = store_open(s, NULL);
    return code ? code : store_make(s, "summary", limits_reads);
}

static int print_checks(struct store *s, const struct request *q)
{
    AUTO_FREE char *path = q->dir ? xstrfmt("%s/" LIMITS_CSV, q->dir) : NULL;
    bool any = false;
    int code =
        path ? store_export(s, "SELECT * FROM limits ORDER BY rowid", limits_columns, path) : GS_OK;
    if (!code && !q->quiet)
        code = limits_print(s, path);
    fflush(stdout); /* both may go to one file */
    if (!code)
        code = limits_say(s, &any);
    if (!code && !any)
        say("nothing is published or measured of the platforms of these configs");
    return code;
}

static int limits(void *request, char **configs, int n)
{
    const struct request *q = request;
    struct store s = {0};
    int code = open_cells(&s, q->dir);
    if (!code)
        code = limits_check(&s, (const char *const *)configs, (size_t)n);
    if (!code)
        code = print_checks(&s, q);
    code = code ? code : s.damaged.n ? GS_FAILED : GS_OK;
    store_close(&s);
    return code;
}

int cmd_limits(int argc, char **argv)
{
    struct request q = {0};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.dir, "CSV",
         "read summary.csv of this folder and write limits.csv there (default: read the "
         "recordings of data/raw, write nothing)"},
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
