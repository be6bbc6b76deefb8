/* SPDX-License-Identifier: Apache-2.0 */
#include "store/transitions.h"

#include "base/err.h"
#include "compare/origin.h"

#include <stdlib.h>

/* along(PARAMS): without those that differ along a curve. */
static void sql_along(sqlite3_context *c, int n, sqlite3_value **v)
{
    static const char *const differing[] = {"size", "config", NULL};
    const char *params = (const char *)sqlite3_value_text(v[0]);
    (void)n;
    sqlite3_result_text(c, alike_without(params ? params : "", differing), -1, free);
}

/* clang-format off */

#define CURVE "platform, workload, label, config, mode, along, ranks, nodes"

/* Statements in their order; each table is read by those after it. */
static const char *const statements[] = {
    /* Cells without computation; a curve has the number of its first cell. */
    "CREATE TEMP TABLE curves AS"
    " SELECT *, min(at) OVER (PARTITION BY " CURVE ") AS curve"
    " FROM (SELECT row_number() OVER (ORDER BY sort, m.rowid) AS at, m.run AS replicate_run, cell_id,"
    "         platform, workload, label, config, mode, along(params) AS along, ranks, nodes,"
    "         size_B AS size"
    "       FROM main.summary AS m JOIN main.stamp USING (run)"
    "       WHERE size_B > 0 AND median_s > 0 AND mode IN ('', 'comm'))",

    /* The first time of each launch at each size. */
    "CREATE TEMP TABLE timed AS"
    " SELECT curve, replicate_run, launch, size, median_s AS time, coalesce(ran, '') AS ran, min(at)"
    " FROM curves JOIN main.launches AS l ON l.run = replicate_run AND l.cell_id = curves.cell_id"
    " WHERE median_s > 0 GROUP BY curve, replicate_run, launch, size",

    "CREATE TEMP TABLE replicate AS"
    " SELECT curve, replicate_run, launch, count(*) OVER (PARTITION BY curve) AS replicates"
    " FROM (SELECT *, sum(n = most) OVER curve AS whole, sum(2 * n >= most) OVER curve AS half"
    "       FROM (SELECT curve, replicate_run, launch, count(*) AS n,"
    "               max(count(*)) OVER (PARTITION BY curve) AS most"
    "             FROM timed GROUP BY curve, replicate_run, launch)"
    "       WINDOW curve AS (PARTITION BY curve))"
    " WHERE n >= iif(2 * whole > half, most, (most + 1) / 2)",

    "CREATE TEMP TABLE point AS"
    " SELECT curve, 1000000 * replicate_run + launch AS series, replicates, size, time, ran"
    " FROM (SELECT *, count(*) OVER (PARTITION BY curve, size) AS launches"
    "       FROM timed JOIN replicate USING (curve, replicate_run, launch))"
    " WHERE launches = replicates",

    /* Where another algorithm or protocol runs at the next size. */
    "CREATE TEMP TABLE switch AS"
    " SELECT curve, replicates, size, next, ran, next_ran, count(*) AS agree"
    " FROM (SELECT *, lead(size) OVER series AS next, lead(ran) OVER series AS next_ran"
    "       FROM point WHERE curve NOT IN (SELECT curve FROM point WHERE ran = '')"
    "       WINDOW series AS (PARTITION BY curve, series ORDER BY size))"
    " WHERE substr(ran || ' ', 1, instr(ran || ' ', ' '))"
    "     <> substr(next_ran || ' ', 1, instr(next_ran || ' ', ' ')) AND next IS NOT NULL"
    " GROUP BY curve, size, next, ran, next_ran",

    /* The launches, and the median of them as series 0. */
    "CREATE TEMP TABLE series AS"
    " SELECT curve, series, replicates, size, time FROM point"
    " UNION ALL"
    " SELECT curve, 0, replicates, size, avg(time)"
    " FROM (SELECT *, row_number() OVER (PARTITION BY curve, size ORDER BY time) AS nth FROM point)"
    " WHERE nth IN ((replicates + 1) / 2, (replicates + 2) / 2) GROUP BY curve, size",

    "DELETE FROM series WHERE curve IN"
    " (SELECT curve"
    "  FROM (SELECT curve, lead(time) OVER (PARTITION BY curve ORDER BY size) < 0.9 * time AS falls"
    "        FROM series WHERE series = 0)"
    "  GROUP BY curve HAVING count(*) < 6 OR 4 * coalesce(sum(falls), 0) > count(*) - 1)",

    /* above: the logarithm of the time over that of the line between its neighbours. */
    "CREATE TEMP TABLE above AS"
    " SELECT *, ln(time) - ln(before) - (ln(after) - ln(before))"
    "     * (ln(size) - ln(smaller)) / (ln(larger) - ln(smaller)) AS above"
    " FROM (SELECT *, lag(size) OVER series AS smaller, lag(time) OVER series AS before,"
    "         lead(size) OVER series AS larger, lead(time) OVER series AS after"
    "       FROM series WINDOW series AS (PARTITION BY curve, series ORDER BY size))",

    "CREATE TEMP TABLE rough AS"
    " SELECT curve, series, avg(abs(above)) AS rough"
    " FROM (SELECT *, row_number() OVER (PARTITION BY curve, series ORDER BY abs(above)) AS nth,"
    "         count(*) OVER (PARTITION BY curve, series) AS n FROM above WHERE above IS NOT NULL)"
    " WHERE nth IN ((n + 1) / 2, (n + 2) / 2) GROUP BY curve, series",

    "CREATE TEMP TABLE feature AS"
    " SELECT curve, series, replicates, 'spike' AS kind, size, smaller AS from_B, larger AS to_B,"
    "   exp(above) - 1 AS change"
    " FROM above JOIN rough USING (curve, series)"
    " WHERE above > max(ln(1.08), 4 * rough) AND time > 1.05 * after",

    /* A stretch begins at its peak, a bandwidth that no smaller size has, and ends before the next such.
     * depth, of a bandwidth below it, and beside: that of a neighbour. */
    "CREATE TEMP TABLE stretched AS"
    " SELECT curve, series, replicates, size, bandwidth, most, ln(most / bandwidth) AS depth,"
    "   max(iif(bandwidth = most, size, 0)) OVER series AS peak,"
    "   max(coalesce(lag(ln(most / bandwidth)) OVER series, 0),"
    "       coalesce(ln(most / lead(bandwidth) OVER series), 0)) AS beside"
    " FROM (SELECT *, size / time AS bandwidth, max(size / time) OVER series AS most"
    "       FROM series WHERE (curve, series, size) NOT IN"
    "         (SELECT curve, series, size FROM feature)"
    "       WINDOW series AS (PARTITION BY curve, series ORDER BY size))"
    " WINDOW series AS (PARTITION BY curve, series ORDER BY size)",

    "INSERT INTO feature"
    " SELECT curve, series, replicates, iif(back <= 32 * peak, 'dip', 'fall'), size, peak,"
    "   iif(back <= 32 * peak, back, size), exp(-depth) - 1"
    " FROM (SELECT *, (SELECT min(size) FROM stretched AS later"
    "                  WHERE later.curve = low.curve AND later.series = low.series"
    "                    AND later.size > low.size AND 2 * ln(low.most / later.bandwidth)"
    "                      <= low.depth) AS back"
    "       FROM (SELECT *, max(depth) OVER (PARTITION BY curve, series, peak) AS deepest"
    "             FROM stretched JOIN rough USING (curve, series)"
    "             WHERE depth > ln(1.03) AND depth > 1.5 * rough) AS low"
    "       WHERE depth = deepest AND (depth > ln(1.05) OR 2 * beside > depth))",

    /* A launch agrees at the same size, or at the one beside it. */
    "INSERT INTO transitions"
    " SELECT platform, workload, label, config, mode, along, ranks, nodes, kind, round(place),"
    "   from_B, to_B, change, agree, replicates, verdict, reason"
    " FROM (SELECT curve, 'switch' AS kind, sqrt(1.0 * size * next) AS place, size AS from_B,"
    "         next AS to_B, NULL AS change, agree, replicates, 'recorded' AS verdict,"
    "         substr(ran, 1, 70) || ' to ' || substr(next_ran, 1, 70) AS reason"
    "       FROM switch"
    "       UNION ALL"
    "       SELECT curve, kind, size, from_B, to_B, change, agree, replicates,"
    "         iif(replicates < 2, 'unconfirmed', 'confirmed'),"
    "         CASE kind WHEN 'spike' THEN 'above both neighbours, and the next size is faster'"
    "           WHEN 'dip' THEN 'regained at larger sizes'"
    "           ELSE 'half of it is not regained at the next larger sizes' END"
    "       FROM (SELECT *, (SELECT count(DISTINCT own.series) FROM feature AS own"
    "                        WHERE own.curve = f.curve AND own.kind = f.kind"
    "                          AND own.series <> 0 AND NOT EXISTS"
    "                            (SELECT 1 FROM series AS s"
    "                             WHERE s.curve = f.curve AND s.series = 0"
    "                               AND s.size > min(own.size, f.size)"
    "                               AND s.size < max(own.size, f.size))) AS agree"
    "             FROM feature AS f WHERE series = 0)"
    "       WHERE replicates < 2 OR (agree > 1 AND 2 * agree > replicates)) AS found"
    " JOIN curves ON at = found.curve"
    " ORDER BY at, kind <> 'switch', from_B, reason",
};

static const char cleared[] =
    "DROP TABLE curves; DROP TABLE timed; DROP TABLE replicate; DROP TABLE point; DROP TABLE switch;"
    "DROP TABLE series; DROP TABLE above; DROP TABLE rough; DROP TABLE feature;"
    "DROP TABLE stretched";

/* clang-format on */

int transitions_make(struct store *s)
{
    if (sqlite3_create_function(s->db, "along", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                sql_along, NULL, NULL))
        return store_failed(s);
    for (size_t i = 0; i < COUNT(statements); i++)
        CHECK(store_execute(s, statements[i]));
    return store_execute(s, cleared);
}
