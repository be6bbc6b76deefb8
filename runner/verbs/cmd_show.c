/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/screen.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "base/text_table.h"
#include "base/units.h"
#include "record/choose_runs.h"
#include "record/host_load.h"
#include "record/machine.h"
#include "record/record.h"
#include "record/run_campaign.h"
#include "reduce/gather.h"
#include "reduce/multinode.h"
#include "reduce/remarks.h"
#include "reduce/summary.h"
#include "verbs/commands.h"
#include "verbs/show_formats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- columns of axes ---- */

static bool same_value(const struct rec_cell *a, const struct rec_cell *b, const char *key)
{
    char x[128] = "", y[128] = "";
    recorded_param(a, key, x, sizeof x);
    recorded_param(b, key, y, sizeof y);
    return !strcmp(x, y);
}

/* An axis varies between groups but not within one; a config or a mode varies within. */
static bool is_axis(const struct recorded *r, const char *key)
{
    bool varies = false;
    for (size_t i = 1; i < r->n_cells; i++) {
        bool same = same_value(&r->cells[i - 1], &r->cells[i], key);
        if (!same && r->cells[i - 1].group == r->cells[i].group)
            return false;
        varies = varies || !same;
    }
    return varies;
}

/* Keys of the axes except size, which always has a column. Not every cell has every parameter. */
static void find_axes(const struct recorded *r, struct words *axes)
{
    AUTO_WORDS struct words seen = {0};
    *axes = (struct words){0};
    for (size_t c = 0; c < r->n_cells; c++) {
        struct words params;
        words_split(&params, r->cells[c].params, ' ');
        for (size_t i = 0; i < params.n; i++) {
            params.v[i][strcspn(params.v[i], "=")] = '\0';
            if (!*params.v[i] || words_has(&seen, params.v[i]))
                continue;
            words_add(&seen, params.v[i]);
            if (strcmp(params.v[i], "size") && is_axis(r, params.v[i]))
                words_add(axes, params.v[i]);
        }
        words_free(&params);
    }
}

/* ---- rows ---- */

struct table {
    struct words cells; /* row by row */
    struct words notes; /* below the table, by number from 1 */
    size_t columns;
};

static void put(struct table *t, const char *s)
{
    words_add(&t->cells, s);
}

#define LONGEST_WHY 60 /* in the table; a longer reason stands below it, once */
/* A status that needs no attention begins with "ok". */
static bool is_ok(const char *status)
{
    return !strncmp(status, "ok", 2);
}

/* "186 .. 191 us", "990 us .. 1.02 ms"; "-": none. */
static const char *interval(char *buf, size_t n, double low, double high)
{
    char a[32], b[32];
    if (!isfinite(low))
        return "-";
    units_human_time(a, sizeof a, low);
    units_human_time(b, sizeof b, high);
    size_t number = strcspn(a, " ");
    if (!strcmp(a + number, b + strcspn(b, " ")))
        a[number] = '\0';
    snprintf(buf, n, "%s .. %s", a, b);
    return buf;
}

static void put_numbers(struct table *t, const struct summary *m)
{
    char span[80];
    put(t, isfinite(m->time_s.median) ? HUMAN_TIME(m->time_s.median) : "-");
    put(t, interval(span, sizeof span, m->time_s.lo, m->time_s.hi));
    put(t, isfinite(m->busbw) && m->busbw > 0 ? HUMAN_RATE(m->busbw) : "-");
}

/* To the last cell. */
static void add_note_number(struct table *t, const char *note)
{
    size_t i = words_add_once(&t->notes, note);
    char **cell = &t->cells.v[t->cells.n - 1];
    size_t n = strlen(*cell), again = n && (*cell)[n - 1] == ']';
    char *with = xstrfmt("%.*s%s%zu]", (int)(n - again), *cell, again ? "," : " [", i + 1);
    free(*cell);
    *cell = with;
}

static void print_notes(const struct table *t)
{
    for (size_t i = 0; i < t->notes.n; i++) {
        char *line = xstrfmt("[%zu] %s", i + 1, t->notes.v[i]);
        screen_say(line);
        free(line);
    }
}

static void put_status(struct table *t, const struct recorded *r, const struct gathered *g,
                       const struct series *s, const struct summary *m)
{
    struct series_status o = series_status(r, s);
    bool wide = o.numbers && s->whole && s->launches > 1 && !summary_converged(r, s, m);
    AUTO_FREE char *note = o.numbers ? remarks_of(r, g, s) : xstrdup("");
    bool below = strlen(o.why) > LONGEST_WHY;
    words_addf(&t->cells, "%s%s%s", o.status, below || !*o.why ? "" : ": ", below ? "" : o.why);
    if (below)
        add_note_number(t, o.why);
    if (wide)
        add_note_number(t, "not converged: the interval is wider than [measure] precision asks");
    if (*note)
        add_note_number(t, note);
}

static void put_row(struct table *t, const struct recorded *r, const struct words *axes,
                    const struct gathered *g, const struct series *s, const struct summary *m)
{
    const struct rec_cell *cell = &r->cells[s->cell];
    char buf[128];
    put(t, cell->size_B ? SHORT_SIZE(cell->size_B) : "-");
    for (size_t i = 0; i < axes->n; i++) {
        const char *v = recorded_param(cell, axes->v[i], buf, sizeof buf);
        put(t, v ? v : "-");
    }
    put(t, *cell->config ? cell->config : "-");
    put(t, *cell->mode ? cell->mode : "-");
    put_numbers(t, m);
    put_status(t, r, g, s, m);
}

static int fill(struct table *t, const struct recorded *r, const struct words *axes,
                struct multinode *known)
{
    static const char *const rest[] = {"config", "mode", "median", "95% CI", "busbw", "status"};
    size_t n = sizeof rest / sizeof *rest;
    int code = GS_OK;
    t->columns = 1 + axes->n + n;
    put(t, "size");
    for (size_t i = 0; i < axes->n; i++)
        put(t, axes->v[i]);
    for (size_t i = 0; i < n; i++)
        put(t, rest[i]);
    for (size_t g = 0; g < r->n_groups && !code; g++) {
        struct gathered all;
        code = gather_group(r, g, &all);
        for (size_t i = 0; i < all.n && !code; i++)
            if (all.series[i].copy == 0) {
                struct summary m = summary_of(r, &all.series[i]);
                put_row(t, r, axes, &all, &all.series[i], &m);
                multinode_see(known, r, &all.series[i], &m);
            }
        gathered_free(r, &all);
    }
    return code;
}

/* Files of the run folder that are not there. An import, a trial and a run of tune have no plan. */
static int say_missing(const struct recorded *r, const char *dir)
{
    AUTO_FREE char *config = xstrfmt("%s/config.ini", dir);
    bool tuned = !strcmp(r->workload, "train") && access(config, F_OK);
    if (!r->planned && !r->imported && !tuned && strcmp(r->workload, "trial"))
        return fail_at(GS_FAILED, dir, 0,
                       "plan.json is missing, so cells that were never measured are not listed: "
                       "restore the file");
    AUTO_FREE char *command = run_completed_by(dir);
    if (!run_is_final(dir))
        say("no " RECORD_MANIFEST ": the run was interrupted, or the file was lost; %s%s",
            r->imported ? "import it again" : "to complete it: ", r->imported ? "" : command);
    return GS_OK;
}

static int show_run(const char *dir)
{
    struct recorded *r;
    int code = recorded_read(&r, dir);
    if (code)
        return code;
    if (!r)
        return fail(GS_FAILED, "%s: nothing recorded yet", dir);
    struct table t = {0};
    AUTO_WORDS struct words axes = {0};
    struct multinode known = {0};
    find_axes(r, &axes);
    code = fill(&t, r, &axes, &known);
    if (!code) {
        AUTO_FREE char *sets = machine_gpu_sets(&dir, 1);
        char *title =
            xstrfmt("%s%s%s on %s, run %s: %s, %lld launch%s%s%s", r->workload,
                    *r->label ? " " : "", r->label, r->platform, r->run_id,
                    RANKS_ON((long long)r->ranks, (long long)r->nodes), (long long)r->launches,
                    r->launches == 1 ? "" : "es", sets ? ", on " : "", sets ? sets : "");
        screen_say(title);
        free(title);
        text_table_print(&t.cells, t.columns, 1 + axes.n, is_ok);
        print_notes(&t);
        char *lines = multinode_text(&known);
        if (lines)
            printf("%s", lines);
        free(lines);
        fflush(stdout);
        host_load_warn(&dir, 1);
        code = say_missing(r, dir);
        if (!code && recorded_compares(r))
            say("next: gradsync compare %s", SHELL_WORD(dir));
    }
    words_free(&t.cells);
    words_free(&t.notes);
    recorded_free(r);
    return code;
}

/* ---- the verb ---- */

struct request {
    const char *format, *out;
    bool json;
};

static int show(void *request, char **words, int n)
{
    const struct request *q = request;
    struct choice choice;
    int code = q->out && !q->format && !q->json
                   ? fail(GS_USAGE, "show: --output needs --format nccl-tests or prometheus")
                   : GS_OK;
    if (code)
        return code;
    code = choose_runs(&choice, (const char *const *)words, (size_t)n);
    const struct run_folder *latest = code ? NULL : choice_latest(&choice);
    if (latest && (q->format || q->json))
        code = show_format(latest->dir, q->format ? q->format : "json", q->out);
    else if (latest) {
        choice.one = true;
        choice_say(&choice);
        code = show_run(latest->dir);
    }
    choice_free(&choice);
    return code;
}

int cmd_show(int argc, char **argv)
{
    struct request q = {0};
    const struct cli_option options[] = {
        {"json", 'j', CLI_FLAG, &q.json, NULL, "print one JSON object (docs/formats.md)"},
        {"format", 0, CLI_TEXT, &q.format, "FORMAT",
         "nccl-tests: tables as nccl-tests prints them; nccl-tests-json: as its -J writes them; "
         "prometheus: metrics for the textfile collector, with the names of NCCL's inspector"},
        {"output", 'o', CLI_TEXT, &q.out, "FILE",
         "write the output of --format to this file, replaced atomically (default: print it)"},
        {0}};
    const struct cli cli = {.verb = "show",
                            .arguments = "[PLATFORM | RUN | RAW]",
                            .summary = "Prints a table of a run, of the latest run of "
                                       "a platform or of the latest below RAW (default: the "
                                       "latest run of this machine).",
                            .example = "gradsync show local",
                            .options = options,
                            .max_args = 1};
    return cli_request(&cli, argc, argv, show, &q);
}
