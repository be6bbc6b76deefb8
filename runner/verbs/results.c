/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/files.h"
#include "base/shell.h"
#include "base/text.h"
#include "config/locate.h"
#include "curves/transitions.h"
#include "limits/audit.h"
#include "publish/report.h"
#include "record/runs.h"
#include "verbs/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- limits ---- */

struct limits_request {
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

static int print_checks(struct store *s, const struct limits_request *q)
{
    AUTO_FREE char *path = q->dir ? xstrfmt("%s/" LIMITS_CSV, q->dir) : NULL;
    bool any = false;
    int code =
        path ? store_export(s, "SELECT * FROM limits ORDER BY rowid", limits_columns, path) : GS_OK;
    if (!code && !q->quiet)
        code = limits_print(s, path);
    fflush(stdout); /* both may go to one file */
    TRY(code, limits_say(s, &any));
    if (!code && !any)
        say("nothing is published or measured of the platforms of these configs");
    return code;
}

static int limits(void *request, char **configs, int n)
{
    const struct limits_request *q = request;
    struct store s = {0};
    int code = open_cells(&s, q->dir);
    TRY(code, limits_check(&s, (const char *const *)configs, (size_t)n));
    TRY(code, print_checks(&s, q));
    return store_finish(&s, code);
}

int cmd_limits(int argc, char **argv)
{
    struct limits_request q = {0};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.dir, "CSV",
         "read summary.csv of this folder and write limits.csv there (default: read the "
         "recordings of data/raw, write nothing)"},
        {"quiet", 'q', CLI_QUIET, &q.quiet, NULL, "print errors only, no table"},
        {0},
    };
    const struct cli cli = {.arguments = "CONFIG…",
                            .summary = "Compares measured and published numbers of the configs' "
                                       "platforms with physical limits.",
                            .example = "gradsync limits configs/h200-4gpu.ini",
                            .options = options,
                            .args = {1, -1}};
    return cli_request(&cli, argc, argv, limits, &q);
}

/* ---- transitions ---- */

/* What is printed of which tables; the tables of a folder are printed whole. */
struct transitions_request {
    bool all, quiet, named; /* named: the user named the folder */
    const char *dir;
    char *platform; /* NULL: any */
};

static void choose(struct transitions_request *q, const char *word)
{
    AUTO_FREE char *folder = word ? locate_platform(word) : NULL;
    AUTO(runs_choice_free) struct choice choice = {0};
    q->named = word && !folder;
    q->dir = q->named ? word : STORE_TABLES_DIR;
    if (folder)
        q->platform = xstrdup(word);
    else if (!word && !q->quiet && !runs_choose_quietly(&choice)) {
        runs_choice_say(&choice);
        q->platform = xstrdup(choice.platform);
    }
}

static bool may_write(const char *dir)
{
    if (!access(dir, W_OK) || (errno != EACCES && errno != EROFS))
        return true;
    say("warning: %s/" TRANSITIONS_CSV " is not written: %s", dir, strerror(errno));
    return false;
}

/* The tables may be another person's, and the user wants to see only what they show. */
static int write_and_print(const struct transitions_request *q)
{
    struct store s = {0};
    AUTO_FREE char *path = xstrfmt("%s/" TRANSITIONS_CSV, q->dir);
    bool all = !q->named && store_has_recordings();
    int code = store_open_table(&s, all ? NULL : q->dir, "launches", curves_reads);
    TRY(code, transitions_make(&s));
    bool kept = !code && (q->quiet || may_write(q->dir)); /* quiet: it is there to write */
    if (kept)
        code =
            store_export(&s, "SELECT * FROM transitions ORDER BY rowid", transitions_columns, path);
    if (!code && !q->quiet)
        code = transitions_print(&s, q->platform, q->all, kept ? path : NULL);
    return store_finish(&s, code);
}

static int transitions(void *request, char **words, int n)
{
    struct transitions_request *q = request;
    if (n && !access(words[0], F_OK) && !files_is_folder(words[0]))
        return fail_at(GS_USAGE, words[0], 0,
                       "is not a folder; give a folder of tables, such as data/csv, or a platform");
    if (n && !files_is_folder(words[0]) && !strchr(words[0], '/')) {
        AUTO_FREE char *folder = locate_platform(words[0]);
        if (!folder)
            return locate_failed(GS_USAGE, words[0], LOCATE_RUN);
    }
    choose(q, n ? words[0] : NULL);
    int code = write_and_print(q);
    free(q->platform);
    return code;
}

int cmd_transitions(int argc, char **argv)
{
    struct transitions_request q = {0};
    const struct cli_option options[] = {
        {"all", 'a', CLI_FLAG, &q.all, NULL, "print every transition (default: one screen)"},
        {"quiet", 'q', CLI_QUIET, &q.quiet, NULL, "print errors only, no table"},
        {0},
    };
    const struct cli cli = {
        .arguments = "[PLATFORM | CSV]",
        .summary =
            "Finds protocol switches, kinks, knees, dips and spikes in the curves of the "
            "recordings "
            "of data/raw, or of CSV/launches.csv, writes transitions.csv into CSV (default: "
            "data/csv) and prints those of a platform (default: that of the latest run of this "
            "machine).",
        .example = "gradsync transitions h200-4gpu",
        .options = options,
        .args = {0, 1}};
    return cli_request(&cli, argc, argv, transitions, &q);
}

/* ---- report ---- */

struct report_request {
    struct report_source source;
    const char *path;
    bool all;
};

static int report(void *request, char **platforms, int n)
{
    struct report_request *q = request;
    AUTO(runs_choice_free) struct choice choice = {0};
    if (!n && !q->all && !q->source.raw) {
        CHECK(runs_choose(&choice, NULL, 0));
        runs_choice_say(&choice);
        platforms[0] = choice.platform;
    }
    q->source.platforms = (const char *const *)platforms;
    q->source.raw = q->source.raw ? q->source.raw : LOCATE_DATA;
    CHECK(report_write(q->path, &q->source));
    say("%s: open it in a browser", q->path);
    return GS_OK;
}

int cmd_report(int argc, char **argv)
{
    struct report_request q = {.source.figures = "figures/out", .path = "report.html"};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.path, "FILE", "file for the page (default report.html)"},
        {"raw", 'r', CLI_TEXT, &q.source.raw, "RAW", "folder of the recordings (default data/raw)"},
        {"figures", 'f', CLI_TEXT, &q.source.figures, "FOLDER",
         "folder of the figures (default figures/out)"},
        {"all", 'a', CLI_FLAG, &q.all, NULL, "every platform that has a recording"},
        CLI_QUIET_ROW,
        {0},
    };
    const struct cli cli = {
        .arguments = "[PLATFORM…]",
        .summary = "Writes one HTML page with the verdicts, figures, tables and machines of the "
                   "platforms (default: that of the latest run of this machine; with --raw: all). "
                   "'make report' also makes the figures first.",
        .example = "gradsync report local --output local.html",
        .options = options,
        .args = {0, -1}};
    return cli_request(&cli, argc, argv, report, &q);
}
