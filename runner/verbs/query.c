/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/csv.h"
#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "config/locate.h"
#include "record/runs.h"
#include "store/printer.h"
#include "store/store.h"
#include "verbs/commands.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the tables as files ---- */

struct query_request {
    const char *format, **tables, **parameters, *export, *damaged;
    bool stored;
};

/* The tables of the sound recordings are written if the caller takes a list of the others. */
static int write_tables(const struct query_request *q, struct store *s)
{
    AUTO_TEXT struct text list = {0};
    if (s->damaged.n && !q->damaged)
        return GS_FAILED;
    text_add(&list, "");
    for (size_t i = 0; i < s->damaged.n; i++)
        text_addf(&list, "%s\n", s->damaged.v[i]);
    int code = store_export_all(s, q->export);
    return code || !q->damaged || files_replace(q->damaged, list.s, 0666)
               ? code
               : fail_file(q->damaged, "written", errno);
}

static int export_tables(const struct query_request *q, char **words, int n_words)
{
    static const char *const default_root = LOCATE_DATA;
    const char *const *roots = n_words ? (const char *const *)words : &default_root;
    size_t n = n_words ? (size_t)n_words : 1, data = strlen(LOCATE_DATA);
    bool all = n == 1 && !strncmp(roots[0], LOCATE_DATA, data) &&
               !roots[0][data + (roots[0][data] == '/')];
    AUTO(runs_free) struct runs runs = {0};
    AUTO(store_close) struct store s = {0};
    CHECK(runs_below(&runs, roots, n));
    CHECK(store_open_roots(&s, roots, all ? 0 : n));
    CHECK(write_tables(q, &s));
    for (size_t i = 0; i < runs.n; i++)
        if (!run_is_final(runs.v[i].dir))
            say("unfinished: %s: its tables are incomplete; 'gradsync show' names the missing "
                "cells",
                runs.v[i].dir);
    return GS_OK;
}

/* ---- query ---- */

static int format_of(const char *name, enum print_format *format)
{
    for (int i = 0; i < PRINT_FORMATS; i++)
        if (!strcmp(print_formats[i], name)) {
            *format = (enum print_format)i;
            return GS_OK;
        }
    return fail(GS_USAGE, "query: no format '%s'; formats are text, csv, json, lines and tex",
                name);
}

static int query(void *request, char **words, int n)
{
    const struct query_request *q = request;
    struct printing how = {.format = PRINT_TEXT, .parameters = q->parameters};
    struct store s;
    int code = q->format ? format_of(q->format, &how.format) : GS_OK;
    if (code)
        return code;
    if (q->export)
        return export_tables(q, words, n);
    if (!n)
        return fail(GS_USAGE, "query: give a query, or --export DIR");
    if (q->stored && n > 1)
        return fail(GS_USAGE, "query: --stored is for " STORE_PATH ": give no folder");
    /* Tables of CSV files need no recordings; a view does. */
    bool only_files = q->tables && n == 1 && !q->stored;
    for (const char **path = q->tables; only_files && *path; path++)
        only_files = text_ends(*path, ".csv");
    code = only_files  ? store_open(&s, NULL)
           : q->stored ? store_open(&s, STORE_PATH)
                       : store_open_roots(&s, (const char *const *)words + 1, (size_t)n - 1);
    for (const char **path = q->tables; !code && path && *path; path++)
        code = store_add_file(&s, *path);
    TRY(code, print_functions(&s));
    TRY(code, print_query(&s, words[0], &how));
    if (!code && !how.rows && how.format == PRINT_TEXT)
        say("no row");
    return store_finish(&s, code);
}

int cmd_query(int argc, char **argv)
{
    struct query_request q = {0};
    const struct cli_option options[] = {
        {"format", 0, CLI_TEXT, &q.format, "FORMAT",
         "text, csv, json, lines (cells with a space between them) or tex (macros: name, form, "
         "value, "
         "low, high, otherwise; runner/store/tex.h); default: text, rounded to three digits"},
        {"export", 'e', CLI_TEXT, &q.export, "DIR",
         "write the tables of the recordings into this folder (samples.csv, summary.csv and "
         "others) in place of a query"},
        {"damaged", 0, CLI_TEXT, &q.damaged, "FILE",
         "with --export: leave damaged recordings out and list their folders in FILE (default: "
         "write no table if a recording is damaged)"},
        {"table", 't', CLI_LIST, &q.tables, "[NAME=]FILE",
         "query this CSV file as table NAME, by default its own name; FILE.sql: the rows of this "
         "query; may be repeated"},
        {"set", 0, CLI_LIST, &q.parameters, "NAME=TEXT",
         "the value of :NAME in the query; may be repeated"},
        {"stored", 0, CLI_FLAG, &q.stored, NULL,
         "query " STORE_PATH " as it is, without reading recordings"},
        {"quiet", 'q', CLI_QUIET, NULL, NULL, "print errors and the rows only"},
        {0},
    };
    const struct cli cli = {
        .arguments = "[SELECT…] [RAW…]",
        .summary = "Answers a SQL query over the recordings: those of data/raw, which " STORE_PATH
                   " holds, or those below RAW. 'gradsync help tables' lists the tables, "
                   "docs/tables.md has examples.",
        .example = "gradsync query 'SELECT platform, count(*) AS runs FROM run GROUP BY platform'",
        .options = options,
        .args = {0, -1}};
    return cli_request(&cli, argc, argv, query, &q);
}
