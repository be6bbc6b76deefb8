/* SPDX-License-Identifier: Apache-2.0 */
#include "store/contrasts.h"

#include "base/err.h"
#include "base/text.h"
#include "reduce/axes.h"
#include "store/printer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions ---- */

/* change(RATIO): "+1.25%"; span(RATIO, RATIO): "+1.25% .. +1.50%". "-" for NULL. */
static void sql_change(sqlite3_context *c, int n, sqlite3_value **v)
{
    AUTO_TEXT struct text t = {0};
    for (int i = 0; i < n; i++)
        if (sqlite3_value_type(v[i]) != SQLITE_NULL)
            text_addf(&t, "%s%+.2f%%", i ? " .. " : "", 100 * (sqlite3_value_double(v[i]) - 1));
    sqlite3_result_text(c, t.s ? t.s : "-", -1, SQLITE_TRANSIENT);
}

/* judged(VERDICT, LAUNCHES, RATIO, LOW, HIGH, FLOOR, P_HOLM, EQUIVALENCE): the verdict by another bound
 * of equivalence. A contrast without a floor that has a verdict needed none. */
static void sql_judged(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    const char *verdict = (const char *)sqlite3_value_text(v[0]);
    if (!verdict || !strcmp(verdict, verdict_names[VERDICT_SAME])) {
        sqlite3_result_value(c, v[0]);
        return;
    }
    const struct effect e = {.launches = sqlite3_value_int(v[1]),
                             .value = log(sqlite3_value_double(v[2])),
                             .lo = log(sqlite3_value_double(v[3])),
                             .hi = log(sqlite3_value_double(v[4]))};
    bool none = sqlite3_value_type(v[5]) == SQLITE_NULL,
         needed = !strcmp(verdict, verdict_names[VERDICT_INCONCLUSIVE]);
    double floor = !none ? log1p(sqlite3_value_double(v[5])) : needed ? (double)NAN : 0;
    double p_holm =
        sqlite3_value_type(v[6]) == SQLITE_NULL ? (double)NAN : sqlite3_value_double(v[6]);
    struct judgement j = judge_effect(&e, sqlite3_value_double(v[7]), floor, p_holm);
    sqlite3_result_text(c, verdict_names[j.verdict], -1, SQLITE_STATIC);
}

/* All but place(). */
static int make_functions(struct store *s)
{
    const struct {
        const char *name;
        int n;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {{"change", 1, sql_change}, {"span", 2, sql_change}, {"judged", 8, sql_judged}};
    CHECK(print_functions(s));
    for (size_t i = 0; i < COUNT(functions); i++)
        if (sqlite3_create_function(s->db, functions[i].name, functions[i].n, SQLITE_UTF8, NULL,
                                    functions[i].call, NULL, NULL))
            return store_failed(s);
    return GS_OK;
}

/* ---- places ---- */

struct places { /* of the rows that are printed */
    struct axes axes;
    char *first; /* params; NULL: none yet */
};

static void take_config(void *ctx, sqlite3_stmt *st)
{
    struct places *p = ctx;
    axes_config(&p->axes, store_text(st, 0), "");
    axes_config(&p->axes, store_text(st, 1), store_text(st, 2));
}

static void take_params(void *ctx, sqlite3_stmt *st)
{
    struct places *p = ctx;
    p->first = p->first ? p->first : xstrdup(store_text(st, 2));
    axes_add(&p->axes, p->first, store_text(st, 2));
}

/* place(MODE, PARAMS): the mode and the parameters that differ. */
static void sql_place(sqlite3_context *c, int n, sqlite3_value **v)
{
    const struct places *p = sqlite3_user_data(c);
    (void)n;
    sqlite3_result_text(c,
                        axes_where(&p->axes, (const char *)sqlite3_value_text(v[0]),
                                   (const char *)sqlite3_value_text(v[1])),
                        -1, free);
}

/* Prints the columns of the rows `from`, which may use place(): what differs among these rows. */
static int print_rows(struct store *s, const char *columns, const char *from)
{
    struct printing how = {.format = PRINT_TEXT, .keys = 3};
    struct places p = {0};
    AUTO_FREE char *which = xstrfmt("SELECT baseline, config, params FROM %s", from),
                   *rows = xstrfmt("SELECT %s FROM %s", columns, from);
    int code = store_each(s, which, take_config, &p);
    TRY(code, store_each(s, which, take_params, &p));
    if (!code && sqlite3_create_function(s->db, "place", 2, SQLITE_UTF8, &p, sql_place, NULL, NULL))
        code = store_failed(s);
    TRY(code, print_query(s, rows, &how));
    sqlite3_create_function(s->db, "place", 2, SQLITE_UTF8, NULL, NULL, NULL,
                            NULL); /* p ends here */
    free(p.first);
    return code;
}

/* ---- every contrast ---- */

int contrasts_put(struct store *s, const struct comparison *c)
{
    struct csv csv;
    AUTO_FREE char *columns = xstrfmt("%s,family,no_floor", compare_columns);
    CHECK(store_make(s, "compare", columns));
    CHECK(store_make(s, "placebo", placebo_columns));
    struct store_rows *rows = store_rows_begin(s, "compare", columns, false, &csv);
    for (size_t i = 0; i < c->n; i++) {
        contrast_row(&csv, &c->v[i]);
        CSV_INTEGERS(&csv, (int64_t)c->v[i].family, c->v[i].no_floor);
        csv_end(&csv);
    }
    CHECK(store_rows_end(rows));
    rows = store_rows_begin(s, "placebo", placebo_columns, false, &csv);
    placebo_put(&csv, c);
    return store_rows_end(rows);
}

/* clang-format off */

/* A part for each run and baseline. */
static const char parts[] =
    "CREATE TEMP VIEW shown AS"
    " SELECT *, dense_rank() OVER (ORDER BY begin) AS part"
    " FROM (SELECT *, rowid AS at,"
    "         min(rowid) OVER (PARTITION BY platform, workload, label, run_id, baseline) AS begin"
    "       FROM temp.compare)";

static const char titles_of[] =
    "SELECT trim(workload || ' ' || label) || ' on ' || platform || ', run ' || run_id"
    "   || ', against ' || baseline"
    " FROM shown GROUP BY part ORDER BY part";

static const char every[] =
    "'  ' || iif(size_B, short_size(size_B), '-') AS \"  size\","
    " config,"
    " place(mode, params) AS \"where\","
    " change(ratio) AS time,"
    " span(ratio_low, ratio_high) AS \"95% interval\","
    " iif(p_holm < 5e-5, '<0.0001', iif(p_holm IS NULL, '-', printf('%.4f', p_holm))) AS p_holm,"
    " iif(floor IS NULL AND no_floor, 'no floor', span(1 / (1 + floor), 1 + floor))"
    "   AS \"A/A floor\","
    " level,"
    " verdict,"
    " reason"
    "   || iif(verdict = 'same operation' AND measured_verdict IN ('faster', 'slower'),"
    "          ' (by its time alone: ' || measured_verdict || ')', '')"
    "   || iif(launches_needed > 0, ' (' || launches_needed || ' more launch'"
    "          || iif(launches_needed = 1, '', 'es') || ')', '') AS reason";

static const char tests[] =
    "SELECT char(10) || 'p_holm: p of the interval'"
    "   || iif(max(p_holm_of = 'both'), ', or of permuted launches where that is larger', '')"
    "   || ', adjusted over each group and mode'"
    " FROM shown WHERE p_holm IS NOT NULL HAVING count(*) > 0";

/* Modes are different questions. */
static const char counts[] =
    "SELECT iif(min(at) = 1, char(10), '') || count(*) || ' contrasts'"
    "   || iif(mode <> '', ' of mode ' || mode,"
    "          iif(count(*) < (SELECT count(*) FROM shown), ' of operations alone', ''))"
    "   || ': ' || sum(verdict = 'faster') || ' faster, '"
    "   || sum(verdict = 'slower') || ' slower, '"
    "   || sum(verdict = 'equivalent') || ' equivalent, '"
    "   || sum(verdict = 'inconclusive') || ' inconclusive'"
    "   || iif(max(verdict = 'same operation'),"
    "          ', ' || sum(verdict = 'same operation') || ' same operation', '')"
    " FROM shown GROUP BY mode ORDER BY min(at)";

/* Platforms and modes are never pooled; a run without a placebo adds no A/A copies. */
static const char placebo[] =
    "SELECT 'placebo: both ran the same operation, yet their times would be called faster or'"
    "   || ' slower in ' || group_concat(one, ', ')"
    " FROM (SELECT sum(called) || ' of ' || sum(contrasts) || ' ' || iif(mode = '', 'alone', mode)"
    "         || iif((SELECT count(DISTINCT platform) FROM temp.placebo) > 1,"
    "                ' on ' || platform, '')"
    "         || printf(' (%.1f%%; A/A copies %d of %d, %.1f%%)',"
    "                   100.0 * sum(called) / sum(contrasts), sum(aa_called), sum(aa),"
    "                   100.0 * sum(aa_called) / max(sum(aa), 1)) AS one"
    "       FROM temp.placebo WHERE contrasts GROUP BY platform, mode ORDER BY min(rowid))";

/* clang-format on */

int contrasts_print(struct store *s)
{
    AUTO_WORDS struct words titles = {0};
    CHECK(make_functions(s));
    CHECK(store_execute(s, parts));
    CHECK(store_texts(s, titles_of, &titles));
    for (size_t i = 0; i < titles.n; i++) {
        AUTO_FREE char *from = xstrfmt("shown WHERE part = %zu ORDER BY at", i + 1);
        printf("\n%s\n", titles.v[i]);
        CHECK(print_rows(s, every, from));
    }
    CHECK(print_lines(s, tests, NULL));
    CHECK(print_lines(s, counts, NULL));
    return print_lines(s, placebo, NULL);
}

/* ---- again ---- */

/* clang-format off */

/* One contrast of a question in a run, with the one of the run before. Names of runs begin with their
 * time. */
static const char again[] =
    "WITH contrast AS MATERIALIZED"
    " (SELECT sort, " COMPARE_COLUMNS ", row_number() OVER (ORDER BY sort, c.rowid) AS at"
    "  FROM main.compare AS c JOIN main.stamp USING (run))"
    " INSERT INTO again"
    " SELECT " COMPARE_COLUMNS ", earlier_run_id, earlier_launches, earlier_ratio,"
    "   earlier_ratio_low, earlier_ratio_high, earlier_verdict,"
    "   CASE WHEN 'same operation' IN (verdict, earlier_verdict) THEN 'same operation'"
    "        WHEN 'inconclusive' IN (verdict, earlier_verdict) THEN 'open'"
    "        WHEN verdict = earlier_verdict THEN 'same'"
    "        WHEN 'equivalent' IN (verdict, earlier_verdict) THEN 'different'"
    "        ELSE 'contrary' END AS agreement,"
    "   iif(earlier_ratio_low <= ratio_high AND ratio_low <= earlier_ratio_high, 'yes', 'no')"
    "     AS overlap"
    " FROM (SELECT l.*, e.run_id AS earlier_run_id, e.launches AS earlier_launches,"
    "         e.ratio AS earlier_ratio, e.ratio_low AS earlier_ratio_low,"
    "         e.ratio_high AS earlier_ratio_high,"
    "         judged(e.verdict, e.launches, e.ratio, e.ratio_low, e.ratio_high, e.floor, e.p_holm,"
    "                l.equivalence) AS earlier_verdict"
    "       FROM (SELECT *, lag(at) OVER (PARTITION BY platform, workload, label, mode,"
    "                                     by_name(params), baseline, config, size_B"
    "                                     ORDER BY run_id) AS before"
    "             FROM (SELECT *,"
    "                     count(*) OVER (PARTITION BY platform, workload, label, mode,"
    "                                    by_name(params), baseline, config, size_B,"
    "                                    run_id) AS times"
    "                   FROM contrast)"
    "             WHERE times = 1 AND ratio IS NOT NULL AND ratio_low IS NOT NULL"
    "               AND ratio_high IS NOT NULL) AS l"
    "         JOIN contrast AS e ON e.at = l.before)"
    " ORDER BY platform, workload, label, run_id, earlier_run_id, at;";

/* clang-format on */

int again_make(struct store *s)
{
    CHECK(make_functions(s));
    return store_execute(s, again);
}
