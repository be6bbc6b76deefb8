/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/text.h"
#include "publish/tex.h"
#include "publish/trace.h"
#include "verbs/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 3 /* rows traced per number without --all */
#define QUERY "query"

struct request {
    const char *macros, *csv, *raw, *configs, *output;
    bool all, value;
};

/* Accepts "\val{NAME}", as written in the paper, for NAME. */
static char *bare_name(const char *word)
{
    if (strncmp(word, "\\val{", 5))
        return xstrdup(word);
    return xstrfmt("%.*s", (int)strcspn(word + 5, "}"), word + 5);
}

static int explain(const struct request *q, struct numbers *b, const char *word)
{
    struct answer *a;
    bool definition = strcasestr(word, ": SELECT ");
    AUTO_FREE char *name = definition ? xstrdup(QUERY) : bare_name(word);
    int code = definition ? definitions_add(&b->d, QUERY, word) : GS_OK;
    if (!code)
        code = numbers_answer(b, name, &a);
    if (!code && q->value)
        printf("%s = %s\n", a->macro->name, a->text);
    else if (!code)
        code = trace_print(b, a, q->all ? SIZE_MAX : ROWS);
    if (!code && a->gap && !a->none)
        code = GS_FAILED;
    return code;
}

/* For "TABLE:LINE", as a report prints it: returns the line and sets *table, which the caller frees.
 * Otherwise 0. */
static long line_of_table(const char *word, char **table)
{
    const char *colon = strrchr(word, ':');
    char *end;
    long line = colon ? strtol(colon + 1, &end, 10) : 0;
    if (line < 1 || *end || strpbrk(word, " "))
        return 0;
    size_t n = (size_t)(colon - word);
    if (n > strlen(".csv") && !strncmp(colon - strlen(".csv"), ".csv", strlen(".csv")))
        n -= strlen(".csv");
    *table = xstrfmt("%.*s", (int)n, word);
    return line;
}

static int explain_line(struct paper_tables tables, const char *table, long line)
{
    struct numbers b = {.tables = tables, .admissibility.proofs.configs = tables.configs};
    int code = trace_line(&b, table, line);
    numbers_close(&b);
    return code;
}

static int answer(void *request, char **words, int n)
{
    const struct request *q = request;
    AUTO(numbers_close) struct numbers b = {0};
    const struct paper_tables tables = {.csv = q->csv, .raw = q->raw, .configs = q->configs};
    AUTO_FREE char *table = NULL;
    if (q->output && n)
        return fail(GS_USAGE, "why: --output writes all numbers; leave '%s' out", words[0]);
    long line = n == 1 ? line_of_table(words[0], &table) : 0;
    if (line)
        return explain_line(tables, table, line);
    int code = numbers_open(&b, q->macros, tables);
    if (!code && q->output)
        code = tex_write(&b, q->output);
    for (int i = 0; i < n && !code; i++)
        code = explain(q, &b, words[i]);
    for (size_t i = 0; i < b.d.n && !code && !n && !q->output; i++)
        puts(b.d.v[i].name);
    return code;
}

int cmd_why(int argc, char **argv)
{
    struct request q = {
        .macros = "paper/macros.txt", .csv = "data/csv", .raw = "data/raw", .configs = "configs"};
    const struct cli_option options[] = {
        {"all", 'a', CLI_FLAG, &q.all, NULL,
         "trace every row behind a number (default: the first 3)"},
        {"value", 0, CLI_FLAG, &q.value, NULL, "print only NUMBER = VALUE, without the trace"},
        {"output", 'o', CLI_TEXT, &q.output, "DIR",
         "write every number to DIR/macros.tex and DIR/trace.tsv; exit 1 if one is missing, "
         "stale, under-sampled or mixed, and say how to mend it"},
        {"macros", 'm', CLI_TEXT, &q.macros, "FILE",
         "file of definitions (default paper/macros.txt)"},
        {"csv", 'c', CLI_TEXT, &q.csv, "DIR", "folder of the tables (default data/csv)"},
        {"raw", 'r', CLI_TEXT, &q.raw, "DIR", "folder of the recordings (default data/raw)"},
        {"configs", 0, CLI_TEXT, &q.configs, "DIR",
         "folder of the platforms' configs (default configs)"},
        {0},
    };
    const struct cli cli = {
        .verb = "why",
        .arguments = "[NUMBER… | TABLE:LINE | 'FORM: SELECT …']",
        .summary = "Traces numbers of the paper, a row of a table, or the answer of an SQL "
                   "query (FORM as in paper/macros.txt) to its recording: files, "
                   "lines, machine, versions. Without an argument: lists the names of "
                   "the paper's numbers.",
        .example = "gradsync why summary.csv:12",
        .options = options,
        .max_args = -1};
    return cli_request(&cli, argc, argv, answer, &q);
}
