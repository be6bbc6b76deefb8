/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/text.h"
#include "store/printer.h"
#include "store/store.h"
#include "verbs/commands.h"

#include <string.h>

struct request {
    const char *format;
};

static int format_of(const char *name, enum print_format *format)
{
    for (int i = 0; i < PRINT_FORMATS; i++)
        if (!strcmp(print_formats[i], name)) {
            *format = (enum print_format)i;
            return GS_OK;
        }
    return fail(GS_USAGE, "query: no format '%s'%s; formats are text, csv, json and markdown", name,
                DID_YOU_MEAN(text_nearest(name, print_formats, PRINT_FORMATS)));
}

static int query(void *request, char **words, int n)
{
    const struct request *q = request;
    struct printing how = {.format = PRINT_TEXT};
    struct store s;
    int code = q->format ? format_of(q->format, &how.format) : GS_OK;
    if (code)
        return code;
    code = store_open_roots(&s, (const char *const *)words + 1, (size_t)n - 1);
    if (!code)
        code = print_functions(&s);
    if (!code)
        code = print_query(&s, words[0], &how);
    if (!code && !how.rows && how.format == PRINT_TEXT)
        say("no row");
    code = code ? code : s.damaged.n ? GS_FAILED : GS_OK;
    store_close(&s);
    return code;
}

int cmd_query(int argc, char **argv)
{
    struct request q = {0};
    const struct cli_option options[] = {
        {"format", 0, CLI_TEXT, &q.format, "FORMAT",
         "text, csv, json or markdown (default: text, rounded to three digits)"},
        {"quiet", 'q', CLI_QUIET, NULL, NULL, "print errors and the rows only"},
        {0},
    };
    const struct cli cli = {
        .verb = "query",
        .arguments = "SELECT… [RAW…]",
        .summary = "Answers a SQL query over the recordings: those of data/raw, which " STORE_PATH
                   " holds, or those below RAW. 'gradsync help tables' lists the tables, "
                   "docs/tables.md has examples.",
        .example = "gradsync query 'SELECT platform, count(*) AS runs FROM run GROUP BY platform'",
        .options = options,
        .min_args = 1,
        .max_args = -1};
    return cli_request(&cli, argc, argv, query, &q);
}
