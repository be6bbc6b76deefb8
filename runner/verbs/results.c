/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/files.h"
#include "base/shell.h"
#include "base/text.h"
#include "config/locate.h"
#include "curves/transitions.h"
#include "limits/audit.h"
#include "publish/numbers.h"
#include "publish/page.h"
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
    struct page_source source;
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
    CHECK(page_write(q->path, &q->source));
    say("%s: open it in a browser", q->path);
    return GS_OK;
}

int cmd_report(int argc, char **argv)
{
    struct report_request q = {.source = {.csv = "data/csv", .figures = "figures/out"},
                               .path = "report.html"};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.path, "FILE", "file for the page (default report.html)"},
        {"raw", 'r', CLI_TEXT, &q.source.raw, "RAW", "folder of the recordings (default data/raw)"},
        {"csv", 'c', CLI_TEXT, &q.source.csv, "CSV", "folder of the tables (default data/csv)"},
        {"figures", 'f', CLI_TEXT, &q.source.figures, "FOLDER",
         "folder of the figures (default figures/out)"},
        {"all", 'a', CLI_FLAG, &q.all, NULL, "every platform that has a recording"},
        CLI_QUIET_ROW,
        {0},
    };
    const struct cli cli = {
        .arguments = "[PLATFORM…]",
        .summary = "Writes one self-contained HTML page with the figures, tables, "
                   "verdicts, machine and provenance of the platforms (default: that of the "
                   "latest run of this machine; with --raw: all). "
                   "'make report' also makes the tables and figures first.",
        .example = "gradsync report local --output local.html",
        .options = options,
        .args = {0, -1}};
    return cli_request(&cli, argc, argv, report, &q);
}

/* ---- why ---- */

#define ROWS 3 /* rows traced per number without --all */
#define QUERY "query"

struct why_request {
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

static bool is_definition(const char *word)
{
    return strcasestr(word, ": SELECT ");
}

static int explain(const struct why_request *q, struct numbers *b, const char *word)
{
    struct answer *a;
    AUTO_FREE char *name = is_definition(word) ? xstrdup(QUERY) : bare_name(word);
    CHECK(numbers_answer(b, name, &a));
    if (q->value)
        printf("%s = %s\n", a->macro->name, a->text);
    else
        CHECK(trace_print(b, a, q->all ? SIZE_MAX : ROWS));
    return a->gap && !a->none ? GS_FAILED : GS_OK;
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

/* A run has many numbers. */
static int refuse_run(const char *word)
{
    AUTO_FREE char *dir = locate_run(word), *plan = xstrfmt("%s/plan.json", dir);
    if (access(plan, F_OK))
        return GS_OK;
    return fail(GS_USAGE,
                "why: '%s' is a run, not a number: gradsync show %s prints its cells, and gradsync "
                "why TABLE:LINE traces a row, such as summary.csv:12",
                word, SHELL_WORD(dir));
}

static int answer(void *request, char **words, int n)
{
    const struct why_request *q = request;
    AUTO(numbers_close) struct numbers b = {0};
    const struct paper_tables tables = {.csv = q->csv, .raw = q->raw, .configs = q->configs};
    AUTO_FREE char *table = NULL;
    if (q->output && n)
        return fail(GS_USAGE, "why: --output writes all numbers; leave '%s' out", words[0]);
    long line = n == 1 ? line_of_table(words[0], &table) : 0;
    if (line)
        return explain_line(tables, table, line);
    for (int i = 0; i < n; i++)
        CHECK(refuse_run(words[i]));
    CHECK(numbers_open(&b, q->macros, tables));
    if (q->output)
        return tex_write(&b, q->output);
    for (int i = 0; i < n; i++) /* all before the first answer, as numbers.h says */
        if (is_definition(words[i]))
            CHECK(definitions_add(&b.d, QUERY, words[i]));
    for (int i = 0; i < n; i++)
        CHECK(explain(q, &b, words[i]));
    for (size_t i = 0; i < b.d.n && !n; i++)
        puts(b.d.v[i].name);
    return GS_OK;
}

int cmd_why(int argc, char **argv)
{
    struct why_request q = {
        .macros = "paper/macros.txt", .csv = "data/csv", .raw = "data/raw", .configs = "configs"};
    const struct cli_option options[] = {
        {"all", 'a', CLI_FLAG, &q.all, NULL,
         "trace every row behind a number (default: the first 3)"},
        {"value", 0, CLI_FLAG, &q.value, NULL, "print only NUMBER = VALUE, without the trace"},
        {"output", 'o', CLI_TEXT, &q.output, "DIR",
         "write every number to DIR/macros.tex; exit 1 if one is missing, "
         "under-sampled or mixed, and say how to mend it"},
        {"macros", 'm', CLI_TEXT, &q.macros, "FILE",
         "file of definitions (default paper/macros.txt)"},
        {"csv", 'c', CLI_TEXT, &q.csv, "DIR", "folder of the tables (default data/csv)"},
        {"raw", 'r', CLI_TEXT, &q.raw, "DIR", "folder of the recordings (default data/raw)"},
        {"configs", 0, CLI_TEXT, &q.configs, "DIR",
         "folder of the platforms' configs (default configs)"},
        {0},
    };
    const struct cli cli = {
        .arguments = "[NUMBER… | TABLE:LINE | 'FORM: SELECT …']",
        .summary = "Traces numbers of the paper, a row of a table, or the answer of an SQL "
                   "query (FORM as in paper/macros.txt) to its recording: files, "
                   "lines, machine, versions. Without an argument: lists the names of "
                   "the paper's numbers.",
        .example = "gradsync why summary.csv:12",
        .options = options,
        .args = {0, -1}};
    return cli_request(&cli, argc, argv, answer, &q);
}
