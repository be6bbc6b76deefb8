/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/files.h"
#include "base/shell.h"
#include "base/term.h"
#include "base/text.h"
#include "config/config.h"
#include "config/locate.h"
#include "job/tune.h"
#include "plugin/plugin.h"
#include "record/host_load.h"
#include "record/record.h"
#include "record/runs.h"
#include "store/printer.h"
#include "store/store.h"
#include "verbs/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- show ---- */

/* clang-format off */

/* Of the run %Q: its cells, their parameters, and the remarks that stand below the table: a config (a setting of MPI)
 * or a reason that is too long for it, an interval that is too wide, and the note of the cell. Each text has one number. */
static const char tables[] =
    "CREATE TEMP TABLE one AS SELECT * FROM run WHERE dir = %Q;"
    "CREATE TEMP TABLE shown AS"
    " SELECT s.rowid AS at, s.*, c.grp, c.busbw_factor, length(reason) > 24 AS long,"
    "   iif(length(s.config) > 40, replace(s.config, '/', ' '), '') AS long_config,"
    "   s.launches > 1 AND converged = 'no' AND reason NOT LIKE 'interrupted; %%' AS wide,"
    "   coalesce((SELECT value FROM param AS p WHERE p.run = c.run AND p.cell_id = c.cell_id"
    "               AND key = 'collective'), 'allreduce') AS collective"
    " FROM summary AS s JOIN one USING (run) JOIN cell AS c USING (run, cell_id);"
    "CREATE TEMP VIEW word AS"
    " SELECT p.rowid AS at, cell_id, key, value FROM param AS p JOIN one USING (run);"
    "CREATE TEMP TABLE remark_of AS"
    " SELECT at, 0 AS place, long_config AS text FROM shown WHERE long_config <> ''"
    " UNION ALL"
    " SELECT at, 1, reason FROM shown WHERE long"
    " UNION ALL"
    " SELECT at, 2, 'not converged: the interval is wider than [measure] precision asks'"
    " FROM shown WHERE wide"
    " UNION ALL"
    " SELECT at, 3, note FROM shown WHERE note <> ''"
    " UNION ALL"
    " SELECT at, 4, 'above the limit: ' || iif(limit_fraction > 1.005 * max(1, busbw_Bps / algbw_Bps),"
    "   'busbw of [limits] in the config is less, so one of the two is wrong',"
    "   'only with reduction in the switch (NVLS) is so much possible')"
    " FROM shown WHERE limit_fraction > 1.005;"
    "CREATE TEMP TABLE remark AS"
    " SELECT text, row_number() OVER (ORDER BY min(5 * at + place)) AS n"
    " FROM remark_of GROUP BY text;";

/* clang-format on */

/* Not in memory, if it is one of the recordings that the store keeps. */
static int open_run(struct store *s, const char *dir)
{
    bool kept = !strncmp(dir, LOCATE_DATA "/", strlen(LOCATE_DATA "/"));
    CHECK(store_open(s, kept ? STORE_PATH : NULL));
    CHECK(store_read(s, &dir, 1));
    CHECK(print_functions(s));
    char *sql = sqlite3_mprintf(tables, dir);
    int code = store_execute(s, sql);
    sqlite3_free(sql);
    return code;
}

/* ---- as a table ---- */

/* clang-format off */

/* An axis varies between groups but not within one; a config or a mode varies within. The size always
 * has a column. Not every cell has every parameter. */
static const char axes_of[] =
    "WITH told AS (SELECT key, grp, coalesce(value, '') AS value"
    "              FROM (SELECT DISTINCT key FROM word)"
    "                JOIN shown LEFT JOIN word USING (cell_id, key))"
    " SELECT key FROM told JOIN (SELECT key, min(at) AS first FROM word GROUP BY key) USING (key)"
    " WHERE key <> 'size'"
    "   AND key NOT IN (SELECT key FROM told GROUP BY key, grp HAVING count(DISTINCT value) > 1)"
    " GROUP BY key HAVING count(DISTINCT value) > 1 ORDER BY first";

static const char title_of[] =
    "SELECT trim(workload || ' ' || label)"
    "   || (SELECT CASE WHEN count(DISTINCT collective) <> 1 OR min(collective) IN ('', 'allreduce') THEN ''"
    "                   WHEN min(collective) = 'reducescatter' THEN ', reduce_scatter (reducescatter),'"
    "                   ELSE ', ' || min(collective) || ',' END FROM shown)"
    "   || ' on ' || platform || ', run ' || run_id || ': '"
    "   || ranks || ' rank' || iif(ranks = 1, '', 's') || ' on '"
    "   || nodes || ' node' || iif(nodes = 1, '', 's') || ', '"
    "   || launches || ' launch' || iif(launches = 1, '', 'es') FROM one";

/* "186 .. 191 us", "990 us .. 1.02 ms" */
static const char columns[] =
    ", coalesce((SELECT '[' || n || '] …' FROM remark WHERE text = long_config) || substr(config, -30), config) AS config,"
    " mode, human(median_s, 's') AS median,"
    " CASE WHEN ci_low_s IS NULL THEN '-'"
    "      WHEN substr(low, instr(low, ' ')) = substr(high, instr(high, ' '))"
    "      THEN substr(low, 1, instr(low, ' ') - 1) || ' .. ' || high"
    "      ELSE low || ' .. ' || high END AS \"95% CI\","
    " iif(busbw_Bps > 0, human(busbw_Bps, 'B/s'), '-') AS busbw,"
    " status || iif(long OR reason = '', '', ': ' || reason)"
    "   || coalesce(' [' || (SELECT group_concat(n)"
    "                        FROM (SELECT n FROM remark_of JOIN remark USING (text)"
    "                              WHERE remark_of.at = s.at AND text <> long_config ORDER BY place)) || ']', '') AS status"
    " FROM (SELECT *, human(ci_low_s, 's') AS low, human(ci_high_s, 's') AS high FROM shown) AS s"
    " ORDER BY at";

/* The usual lines on a multi-node all-reduce, with the published numbers of 2 x 8 H100:
 *   The median bandwidth of all_reduce with a 4.0GB payload (50 trials, 16 ranks):
 *    algbw: 239.742 GBps (1917.9 Gbps)
 *    busbw: 449.515 GBps (3596.1 Gbps)
 * A smaller payload than the least here would be 0.0GB. */
static const char multinode[] =
    "SELECT printf('The median bandwidth of all_reduce with a %.1fGB payload (%d trials, %d ranks):'"
    "   || char(10) || ' algbw: %.3f GBps (%.1f Gbps)' || char(10) || ' busbw: %.3f GBps (%.1f Gbps)',"
    "   size_B * 1e-9, n, ranks, algbw_Bps * 1e-9, algbw_Bps * 8e-9, busbw_Bps * 1e-9,"
    "   busbw_Bps * 8e-9)"
    " FROM shown"
    " WHERE collective = 'allreduce' AND nodes > 1 AND size_B >= 1e8 AND busbw_Bps > 0"
    " ORDER BY size_B DESC, at LIMIT 1";

/* Of the run: "compares" if two configs have a cell of the same size and mode. */
static const char flags_of[] =
    "SELECT 'imported' FROM one WHERE imported"
    " UNION ALL SELECT 'job' FROM one WHERE workload IN ('trial', 'train')"
    " UNION ALL SELECT 'compares' FROM shown GROUP BY size_B, mode"
    "             HAVING count(DISTINCT config) > 1";

/* clang-format on */

/* A status that needs no attention begins with "ok". */
static bool is_ok(const char *status)
{
    return !strncmp(status, "ok", 2);
}

static int print_table(struct store *s)
{
    struct printing how = {.format = PRINT_TEXT, .fine = is_ok};
    AUTO_WORDS struct words axes = {0};
    AUTO_TEXT struct text sql = {0};
    CHECK(store_texts(s, axes_of, &axes));
    text_add(&sql, "SELECT iif(size_B, short_size(size_B), '-') AS size");
    for (size_t i = 0; i < axes.n; i++) {
        char *axis = sqlite3_mprintf(", (SELECT value FROM word WHERE word.cell_id = s.cell_id"
                                     " AND key = %Q) AS \"%w\"",
                                     axes.v[i], axes.v[i]);
        text_add(&sql, axis);
        sqlite3_free(axis);
    }
    text_add(&sql, columns);
    how.keys = 1 + axes.n;
    return print_query(s, sql.s, &how);
}

/* Files of the run folder that are not there. An import, a trial and a run of tune have no plan. */
static int say_missing(const char *dir, bool imported, bool is_job)
{
    AUTO_FREE char *plan = xstrfmt("%s/plan.json", dir), *how = run_how_completed(dir);
    if (access(plan, F_OK) && !imported && !is_job)
        return fail_at(GS_FAILED, dir, 0,
                       "plan.json is missing, so cells that were never measured are not listed: "
                       "restore the file");
    if (!run_is_final(dir))
        say("no " RECORD_MANIFEST ": the run was interrupted, or the file was lost; %s",
            imported ? "import it again" : how);
    return GS_OK;
}

static void say_remark(const char *s)
{
    screen_wrap(0, 4, screen_columns(stdout), s);
}

static int show_table(struct store *s, const char *dir, const char *title)
{
    AUTO_WORDS struct words flags = {0};
    CHECK(store_texts(s, flags_of, &flags));
    screen_say(title);
    CHECK(print_table(s));
    CHECK(print_lines(s, "SELECT '[' || n || '] ' || text FROM remark ORDER BY n", say_remark));
    CHECK(print_lines(s, multinode, NULL));
    fflush(stdout);
    host_load_warn(&dir, 1);
    CHECK(say_missing(dir, words_has(&flags, "imported"), words_has(&flags, "job")));
    if (words_has(&flags, "compares"))
        say("next: gradsync compare %s", SHELL_WORD(dir));
    return GS_OK;
}

/* ---- the verb ---- */

static int show(void *request, char **words, int n)
{
    const char *svg = *(const char **)request;
    AUTO(runs_choice_free) struct choice choice = {0};
    AUTO(store_close) struct store s = {0};
    AUTO_WORDS struct words title = {0};
    if (svg && n == 1 && files_is_folder(words[0]))
        return tune_draw(words[0], svg);
    if (n == 1 && tune_is_run(words[0]))
        return tune_print(words[0], &title);
    CHECK(runs_choose(&choice, (const char *const *)words, (size_t)n));
    choice.one = true;
    runs_choice_say(&choice);
    const char *dir = runs_choice_latest(&choice)->dir;
    AUTO_FREE char *tune = choice.platform ? tune_latest(dir) : NULL;
    if (svg)
        return tune_draw(tune ? tune : dir, svg);
    if (tune)
        return tune_print(tune, &title);
    CHECK(open_run(&s, dir));
    CHECK(store_texts(&s, title_of, &title));
    if (!title.n)
        return fail(GS_FAILED, "%s: nothing recorded yet", dir);
    return show_table(&s, dir, title.v[0]);
}

int cmd_show(int argc, char **argv)
{
    const char *svg = NULL;
    const struct cli_option options[] = {
        {"svg", 0, CLI_TEXT, &svg, "FILE", "write the bars of a run of tune as SVG to this file"},
        {0}};
    const struct cli cli = {.arguments = "[PLATFORM | RUN | RAW]",
                            .summary = "Prints a table of a run, of the latest run of "
                                       "a platform or of the latest below RAW (default: the "
                                       "latest run of this machine); of tune, its answer.",
                            .example = "gradsync show local",
                            .options = options,
                            .args = {0, 1}};
    return cli_request(&cli, argc, argv, show, &svg);
}
