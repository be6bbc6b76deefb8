/* SPDX-License-Identifier: Apache-2.0
 *
 * The table `limits` in the terminal.
 */
#include "base/err.h"
#include "base/text.h"
#include "limits/limits.h"
#include "store/printer.h"

#include <stdio.h>
#include <string.h>

/* The worst first. */
static const enum limits_verdict worst[] = {
    LIMIT_IMPOSSIBLE, LIMIT_NO_COLLECTIVE, DATA_CONTRADICTED, DATA_UNREACHED,
    DATA_UNSUPPORTED, LIMIT_SWITCH,        DATA_IN_PART,      LIMIT_AT,
    DATA_ELSEWHERE,   DATA_SUPPORTED,      LIMIT_POSSIBLE};
#define FINE 8 /* the first of `worst` that needs no attention */

static size_t severity_of(const char *verdict)
{
    size_t i = 0;
    while (i < COUNT(worst) && strcmp(verdict, limits_verdicts[worst[i]]))
        i++;
    return i;
}

static bool is_fine(const char *verdict)
{
    return severity_of(verdict) >= FINE;
}

static void sql_severity(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    sqlite3_result_int(c, (int)severity_of((const char *)sqlite3_value_text(v[0])));
}

/* Measurements are one line for each platform, quantity and verdict: the first with the largest
 * fraction, and how many it stands for, without its parameters, which are not those of the others.
 * Where data decide, the quantity says on which platform. */
static const char lines[] =
    "CREATE TEMP VIEW line AS SELECT *, dense_rank() OVER (ORDER BY first_of_source) AS number "
    "FROM (SELECT *, iif(source = '', NULL, min(place) OVER (PARTITION BY source)) AS "
    "first_of_source FROM (SELECT *, row_number() OVER (ORDER BY kind = 'measured', "
    "severity(verdict), coalesce(fraction, 0) DESC, at) AS place FROM ("
    "SELECT *, rowid AS at, count(*) OVER same AS n, row_number() OVER (same ORDER BY "
    "coalesce(fraction, 0) DESC, rowid) AS nth FROM limits WHERE platform IN (SELECT platform "
    "FROM chosen) WINDOW same AS (PARTITION BY kind, platform, quantity, verdict, "
    "iif(kind = 'measured', 0, rowid))) WHERE nth = 1))";

static const char shown[] =
    "SELECT platform, iif(n > 1 AND instr(claim, ' B: '), substr(claim, 1, instr(claim, ' B: ') + "
    "1) || ' (of ' || n || ')', shorten(claim, 46)) AS claim, iif(source = '', '-', '[' || "
    "(number - (SELECT count(DISTINCT 1) FROM line WHERE source = '')) || ']') AS source, quantity "
    "|| iif(limit_source LIKE 'measured on %', ' ' || substr(limit_source, 10, "
    "instr(limit_source, ',') - 10), '') AS \"of\", human(value, unit) AS claimed, "
    "human(\"limit\", unit) AS possible, human(fraction, '') AS fraction, verdict FROM line "
    "ORDER BY place";

static void print_source(void *ctx, sqlite3_stmt *st)
{
    size_t *n = ctx;
    printf("%s[%zu] %s\n", *n ? "" : "\n", *n + 1, store_text(st, 0));
    ++*n;
}

int limits_print(struct store *s, const char *path)
{
    struct printing how = {.format = PRINT_TEXT, .fine = is_fine};
    size_t sources = 0;
    int code = print_functions(s);
    if (!code &&
        sqlite3_create_function(s->db, "severity", 1, SQLITE_UTF8, NULL, sql_severity, NULL, NULL))
        code = store_failed(s);
    if (!code)
        code = store_execute(s, lines);
    if (!code)
        code = print_query(s, shown, &how);
    if (code || !how.rows)
        return code;
    code = store_each(s,
                      "SELECT source FROM line WHERE source <> '' GROUP BY source "
                      "ORDER BY min(place)",
                      print_source, &sources);
    if (path)
        printf("\nthe reason of every row: %s, column physics\n", path);
    else
        printf("\nthe reason of every row: column physics of " LIMITS_CSV
               ", which -o FOLDER writes\n");
    return code;
}

/* ---- counts ---- */

struct counting {
    char kind[16];
    struct text line;
};

static void say_line(struct counting *c)
{
    if (c->line.len)
        say("%s:%s", c->kind, c->line.s);
    text_clear(&c->line);
}

static void take_count(void *ctx, sqlite3_stmt *st)
{
    struct counting *c = ctx;
    if (strcmp(c->kind, store_text(st, 0)) != 0)
        say_line(c);
    snprintf(c->kind, sizeof c->kind, "%s", store_text(st, 0));
    text_addf(&c->line, "%s %s %s", c->line.len ? "," : "", store_text(st, 1), store_text(st, 2));
}

/* In the order of limits_verdicts. */
static void sql_order(sqlite3_context *c, int n, sqlite3_value **v)
{
    int i = 0;
    (void)n;
    while (i < LIMITS_VERDICTS &&
           strcmp((const char *)sqlite3_value_text(v[0]), limits_verdicts[i]))
        i++;
    sqlite3_result_int(c, i);
}

int limits_say(struct store *s, bool *any)
{
    struct counting c = {0};
    if (sqlite3_create_function(s->db, "verdict_order", 1, SQLITE_UTF8, NULL, sql_order, NULL,
                                NULL))
        return store_failed(s);
    int code = store_each(s,
                          "SELECT kind, count(*), verdict FROM limits WHERE platform IN "
                          "(SELECT platform FROM chosen) GROUP BY kind, verdict "
                          "ORDER BY kind = 'measured', verdict_order(verdict)",
                          take_count, &c);
    say_line(&c);
    *any = *c.kind;
    text_free(&c.line);
    return code;
}
