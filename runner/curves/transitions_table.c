/* SPDX-License-Identifier: Apache-2.0
 *
 * The table `transitions` in the terminal.
 */
#include "base/err.h"
#include "base/screen.h"
#include "base/text.h"
#include "curves/transitions.h"
#include "store/printer.h"

#include <stdio.h>
#include <string.h>

/* Recorded and confirmed first; then by the largest change; a switch before the other kinds that have
 * no change. Rows that would read alike, of curves that differ in what the table has no column for,
 * are one. */
static const char lines[] =
    "CREATE TEMP VIEW line AS SELECT *, verdict IN ('confirmed', 'recorded') AS sure, "
    "min(rowid) AS at, count(*) AS n FROM transitions WHERE kind NOT IN ('fit', 'refused') "
    "AND platform IN (SELECT platform FROM chosen) "
    "GROUP BY platform, workload, label, config, mode, kind, from_B, to_B, verdict, change, "
    "iif(change IS NULL, 0, rowid)";

static const char shown[] =
    "SELECT platform, workload || iif(label = '', '', ' ' || label) AS workload, "
    "iif(config = '', '-', config) AS config, iif(mode = '', '-', mode) AS mode, kind, "
    "human_size(from_B) || iif(from_B < to_B, ' .. ' || human_size(to_B), '') AS sizes, "
    "human_change(change) AS change, verdict || iif(n > 1, ' ×' || n, '') AS verdict FROM line "
    "ORDER BY sure DESC, coalesce(abs(change), -1 - (kind <> 'switch')) DESC, at";

/* "recorded ×3" */
static bool is_sure(const char *verdict)
{
    AUTO_FREE char *word = xstrfmt("%.*s", (int)strcspn(verdict, " "), verdict);
    return transition_is_sure(word);
}

static void take_number(void *ctx, sqlite3_stmt *st)
{
    *(size_t *)ctx = (size_t)sqlite3_column_int64(st, 0);
}

static int choose(struct store *s, const char *platform)
{
    int code = store_make(s, "chosen", "platform");
    char *sql = platform ? sqlite3_mprintf("INSERT INTO chosen VALUES (%Q)", platform)
                         : sqlite3_mprintf("INSERT INTO chosen SELECT DISTINCT platform FROM "
                                           "transitions");
    if (!code)
        code = store_execute(s, sql);
    sqlite3_free(sql);
    return code;
}

static void say_refused(size_t refused, const char *path)
{
    AUTO_FREE char *line =
        xstrfmt("%zu curve%s too short or irregular%s%s", refused, refused == 1 ? " is" : "s are",
                path ? "; reasons and fits: " : "", path ? path : "");
    screen_say(line);
}

/* Nothing found says something only of the curves that were looked at. */
static void say_none(size_t judged, size_t curves)
{
    if (judged)
        printf("no transition found in %zu of %zu curves\n", judged, curves);
    else
        printf("nothing can be said: every curve has fewer than %d sizes, or is irregular\n",
               TRANSITIONS_LEAST);
}

int transitions_print(struct store *s, const char *platform, bool all, const char *path)
{
    struct printing how = {.format = PRINT_TEXT, .keys = 2, .fine = is_sure};
    size_t rows = 0, curves = 0, refused = 0;
    int code = choose(s, platform);
    if (!code)
        code = store_each(s,
                          "SELECT count(*) FROM transitions WHERE platform IN (SELECT platform "
                          "FROM chosen)",
                          take_number, &rows);
    if (!code && platform && !rows)
        return fail_at(GS_FAILED, path ? path : TRANSITIONS_CSV, 0,
                       "has no row of platform '%s': its recordings have no curve, or were left "
                       "out; see what 'make tables' says",
                       platform);
    if (!code)
        code = print_functions(s);
    if (!code)
        code = store_execute(s, lines);
    how.most = all ? 0 : screen_lines(stdout) - 3;
    if (!code)
        code = print_query(s, shown, &how);
    if (!code)
        code = store_each(s,
                          "SELECT count(*) FROM transitions WHERE kind = 'refused' AND platform IN "
                          "(SELECT platform FROM chosen)",
                          take_number, &refused);
    if (!code)
        code =
            store_each(s,
                       "SELECT count(*) FROM (SELECT DISTINCT platform, workload, label, config, "
                       "mode, params, ranks, nodes FROM transitions WHERE platform IN (SELECT "
                       "platform FROM chosen))",
                       take_number, &curves);
    if (code)
        return code;
    if (!how.rows)
        say_none(curves - refused, curves);
    if (how.most && how.rows > how.most)
        printf("%zu more: --all\n", how.rows - how.most);
    say_refused(refused, path);
    return GS_OK;
}
