/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/text.h"
#include "compare/between_runs.h"
#include "compare/compare_table.h"
#include "compare/placebo.h"
#include "compare/repeatability_table.h"
#include "compare/within_run.h"
#include "launch/run.h"
#include "limits/reference.h"
#include "record/host_load.h"
#include "record/runs.h"
#include "reduce/iteration.h"
#include "verbs/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct request {
    const char *out, *config, *best_of;
    bool reference, again, quiet;
    struct cli_int threads; /* 0: as many as processors */
    char **args;
    size_t n;
};

/* ---- inputs ---- */

/* A file, or a missing path that ends in .csv. */
static bool is_table(const char *path)
{
    struct stat info;
    size_t n = strlen(path);
    if (!stat(path, &info))
        return !S_ISDIR(info.st_mode);
    return n > 4 && !strcmp(path + n - 4, ".csv");
}

/* Platform, workload and label are the first three lines of a key. */
static bool same_section(const struct run_folder *a, const struct run_folder *b)
{
    size_t n = 0;
    for (int lines = 0; lines < 3 && a->key[n]; n++)
        lines += a->key[n] == '\n';
    return !strncmp(a->key, b->key, n);
}

/* Runs are sorted by key, so runs of one section are adjacent. */
static bool has_twin(const struct runs *runs, size_t i)
{
    return (i > 0 && same_section(&runs->v[i], &runs->v[i - 1])) ||
           (i + 1 < runs->n && same_section(&runs->v[i], &runs->v[i + 1]));
}

/* Compares the recordings below the arguments, or below data/raw. */
static int compare_roots(struct comparison *c, const struct request *q, bool twins_only)
{
    static const char *const everything[] = {RUN_DATA};
    struct runs runs = {0};
    int code = runs_below(&runs, q->n ? (const char *const *)q->args : everything, q->n ? q->n : 1);
    for (size_t i = 0; i < runs.n && code != GS_USAGE;
         i++) { /* continue after a damaged run, to name them all */
        if (twins_only && !has_twin(&runs, i))
            continue;
        int one = compare_within_run(c, runs.v[i].dir, q->best_of);
        code = code ? code : one;
    }
    runs_free(&runs);
    return code;
}

static int collect(struct comparison *c, const struct request *q)
{
    if (q->config && !q->reference)
        return fail(GS_USAGE, "compare: --config needs --reference");
    if (q->reference && q->n != 1)
        return fail(GS_USAGE, "compare: --reference takes one run or one folder of runs");
    if (q->best_of && (q->reference || q->n == 2))
        return fail(GS_USAGE,
                    "compare: --best-of compares configs of a run; give one run or one folder of "
                    "runs, and no --reference");
    if (q->reference)
        return compare_reference(c, q->args[0], q->config);
    if (q->n == 2)
        return compare_between_runs(c, q->args[0], q->args[1]);
    return compare_roots(c, q, false);
}

/* Also on stderr, because such rows look like the others in the CSV. */
static void say_refused(const struct comparison *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += c->v[i].effect.launches == 1;
    if (n)
        say("%zu contrast%s rest%s on one launch: no verdict holds for other launches", n,
            n == 1 ? "" : "s", n == 1 ? "s" : "");
}

/* A known step mode may be absent; an unknown mode is an error. */
static int no_best(const char *below, const char *mode)
{
    size_t n = 0;
    while (iteration_modes[n] && strcmp(iteration_modes[n], mode))
        n++;
    if (iteration_modes[n])
        return say("nothing to compare: no recording below %s has configs of the mode '%s' beside "
                   "another mode",
                   below, mode),
               GS_OK;
    const char *near = text_nearest(mode, iteration_modes, n);
    return fail(GS_USAGE,
                "compare: no recording below %s has configs of a mode '%s' beside another mode%s; "
                "iter_proxy has compute, comm, sequential and overlapped",
                below, mode, DID_YOU_MEAN(near));
}

static int nothing_to_compare(const struct request *q)
{
    const char *below = q->n ? q->args[0] : "data/raw";
    if (q->best_of)
        return no_best(below, q->best_of);
    say("nothing to compare: no recording below %s has two configs of equal size and mode; "
        "'gradsync "
        "compare A B' compares two runs, 'gradsync import --as-launches' makes one run of several "
        "files",
        below);
    return GS_OK;
}

/* Warns in one line if the compared runs were measured on a loaded machine. */
static void warn_of_load(const struct request *q)
{
    struct runs runs = {.unsorted = true};
    const char **dirs;
    for (size_t i = 0; i < q->n; i++)
        runs_find(&runs, q->args[i]);
    if (!q->n)
        runs_find(&runs, RUN_DATA);
    dirs = xcalloc(runs.n, sizeof *dirs);
    for (size_t i = 0; i < runs.n; i++)
        dirs[i] = runs.v[i].dir;
    host_load_warn(dirs, runs.n);
    free(dirs);
    runs_free(&runs);
}

static int show_contrasts(const struct request *q, const struct comparison *c)
{
    int code = q->out ? comparison_write(c, q->out, q->best_of ? CHOSEN_CSV : COMPARE_CSV) : GS_OK;
    if (!code && q->out && !q->best_of)
        code = placebo_write(c, q->out);
    if (!code && !c->n)
        code = nothing_to_compare(q);
    else if (!q->quiet)
        comparison_print(c, q->best_of);
    say_refused(c);
    return code;
}

static bool any_twin(const struct comparison *c)
{
    for (size_t i = 0; i < c->n; i++)
        if ((!i || !contrasts_of_one_run(&c->v[i], &c->v[i - 1])) && contrast_has_twin(c, &c->v[i]))
            return true;
    return false;
}

static int show_repeats(const struct request *q, const struct comparison *c)
{
    struct repeats r;
    repeats_find(&r, c);
    int code = q->out ? repeats_write(&r, q->out) : GS_OK;
    if (!code && !any_twin(c))
        say("no contrast was measured twice below %s%s: 'gradsync run CONFIG' measures a config "
            "again, in a new recording",
            q->n ? q->args[0] : "data/raw", q->n > 1 ? " and the others" : "");
    else if (!code && !q->quiet)
        repeats_print(&r);
    say_refused(c);
    repeats_free(&r);
    return code;
}

/* A table already holds the solved contrasts; recordings are solved here. */
static int compare_again(const struct request *q)
{
    struct comparison c = {0};
    bool table = q->n == 1 && is_table(q->args[0]);
    for (size_t i = 0; i < q->n && !table; i++)
        if (is_table(q->args[i]))
            return fail(GS_USAGE, "compare: --again takes recordings or one table, not both: %s",
                        q->args[i]);
    int code = table ? comparison_read(&c, q->args[0]) : compare_roots(&c, q, true);
    if (!code && !table)
        comparison_solve(&c, q->threads.value);
    if (!code)
        code = show_repeats(q, &c);
    comparison_free(&c);
    return code;
}

static int compare(const struct request *q)
{
    if (q->again && (q->reference || q->best_of))
        return fail(GS_USAGE, "compare: --again excludes --reference and --best-of");
    if (q->again)
        return compare_again(q);
    struct comparison c = {0};
    int code = collect(&c, q);
    if (!code) {
        comparison_solve(&c, q->threads.value);
        code = show_contrasts(q, &c);
    }
    if (!code && !q->quiet)
        warn_of_load(q);
    if (!code && comparison_regressed(&c))
        code = fail(GS_FAILED, "%s: slower than [reference] allows", q->args[0]);
    comparison_free(&c);
    return code;
}

int cmd_compare(int argc, char **argv)
{
    struct request q = {.threads = {.min = 1, .max = COMPARE_THREADS_MAX}};
    bool done;
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.out, "CSV", "folder for the table (default: write no table)"},
        {"reference", 0, CLI_FLAG, &q.reference, NULL,
         "compare a run with the numbers in [reference]; exit 1 if it is slower than their "
         "tolerance"},
        {"config", 0, CLI_TEXT, &q.config, "FILE",
         "config with the [reference] to use (default: the run's own config)"},
        {"best-of", 0, CLI_TEXT, &q.best_of, "MODE",
         "compare with the config that is fastest in MODE, e.g. comm; the table is chosen.csv"},
        {"again", 0, CLI_FLAG, &q.again, NULL,
         "show whether repeated runs agree in their verdicts; the table is again.csv; RAW may be "
         "a compare.csv or chosen.csv"},
        {"threads", 0, CLI_INT, &q.threads, "N",
         "maximum number of threads (default: all processors)"},
        {"quiet", 'q', CLI_FLAG, &q.quiet, NULL, "print errors only, no table"},
        {0},
    };
    const struct cli cli = {
        .verb = "compare",
        .arguments = "[RAW… | A B]",
        .summary =
            "Compares the configs of each run with their baseline, or run B with run A, and prints "
            "a verdict per contrast. RAW is a run or a folder of runs (default data/raw).",
        .example = "gradsync compare data/raw/local --output data/csv",
        .options = options,
        .min_args = 0,
        .max_args = -1};
    char **args = xcalloc((size_t)argc, sizeof *args);
    int n, code = cli_parse(&cli, argc, argv, args, &n, &done);
    say_quiet(q.quiet);
    q.args = args;
    q.n = (size_t)n;
    if (!code && !done)
        code = compare(&q);
    free(args);
    return code;
}
