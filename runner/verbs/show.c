/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/csv.h"
#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/shell.h"
#include "base/term.h"
#include "base/text.h"
#include "base/units.h"
#include "config/config.h"
#include "config/locate.h"
#include "plugin/plugin.h"
#include "record/host_load.h"
#include "record/machine.h"
#include "record/record.h"
#include "record/runs.h"
#include "reduce/gather.h"
#include "reduce/nccl_table.h"
#include "reduce/summary.h"
#include "verbs/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- show formats ----
 *
 * A run as text for other programs (docs/formats.md).
 */

/* ---- JSON ---- */

static json_t *json_cell(const struct run_summary *s, size_t i)
{
    const struct rec_cell *c = &s->r->cells[i];
    const struct summary *m = &s->cells[i];
    const struct cell_status *o = &s->status[i];
    bool measured = o->status && isfinite(m->time_s.median);
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"median_seconds", m->time_s.median},
                   {"ci_low_seconds", m->time_s.lo},
                   {"ci_high_seconds", m->time_s.hi},
                   {"p99_seconds", m->p99_s},
                   {"algorithm_bandwidth_bytes_per_second", m->algbw},
                   {"bus_bandwidth_bytes_per_second", m->busbw}};
    json_t *out = json_pack("{so so so so sI so so si sb}", "cell", json_text(c->id), "config",
                            json_text(c->config), "mode", json_text(c->mode), "params",
                            json_text(c->params), "size_bytes", (json_int_t)c->size_B, "status",
                            json_text(o->status ? o->status : "missing"), "why", json_text(o->why),
                            "launches", o->launches, "converged", (int)o->converged);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        json_object_set_new(out, numbers[k].key,
                            measured ? json_finite(numbers[k].value) : json_null());
    return out;
}

static char *json_of(const struct run_summary *s)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < s->r->n_cells; i++)
        json_array_append_new(cells, json_cell(s, i));
    AUTO_JSON json_t *o = json_pack(
        "{ss so so so so sI sI sI so}", "schema", "gradsync-show-1", "platform",
        json_text(s->r->platform), "workload", json_text(s->r->workload), "label",
        json_text(s->r->label), "run_id", json_text(s->r->run_id), "ranks", (json_int_t)s->r->ranks,
        "nodes", (json_int_t)s->r->nodes, "launches", (json_int_t)s->r->launches, "cells", cells);
    char *dump = json_dumps(o, JSON_INDENT(1)), *text = xstrfmt("%s\n", dump);
    free(dump);
    return text;
}

/* ---- Prometheus ---- */

struct metric {
    const char *name, *help;
    double (*of)(const struct summary *m);
};

static double busbw_GBs(const struct summary *m)
{
    return m->busbw * 1e-9;
}

static double algbw_GBs(const struct summary *m)
{
    return m->algbw * 1e-9;
}

static double time_us(const struct summary *m)
{
    return m->time_s.median * 1e6;
}

/* Names and labels as NCCL's inspector writes them. */
static const struct metric metrics[] = {
    {"nccl_bus_bandwidth_gbs", "Bus bandwidth in GB/s", busbw_GBs},
    {"nccl_algorithm_bandwidth_gbs", "Algorithm bandwidth in GB/s", algbw_GBs},
    {"nccl_collective_exec_time_microseconds", "Median time of a collective in microseconds",
     time_us},
};

static const char *const inspector_names[COLLECTIVES] = {[COLLECTIVE_ALLREDUCE] = "AllReduce",
                                                         [COLLECTIVE_ALLGATHER] = "AllGather",
                                                         [COLLECTIVE_REDUCESCATTER] =
                                                             "ReduceScatter",
                                                         [COLLECTIVE_ALLTOALL] = "AlltoAll",
                                                         [COLLECTIVE_BROADCAST] = "Broadcast",
                                                         [COLLECTIVE_REDUCE] = "Reduce",
                                                         [COLLECTIVE_SENDRECV] = "SendRecv"};

static void add_series(struct text *t, const struct metric *k, const struct run_summary *s,
                       size_t i)
{
    char size[32], ranks[24], nodes[24];
    const struct rec_cell *c = &s->r->cells[i];
    const char *collective = inspector_names[nccl_sections_collective(c)];
    units_size(size, sizeof size, (uint64_t)c->size_B);
    snprintf(ranks, sizeof ranks, "%lld", (long long)s->r->ranks);
    snprintf(nodes, sizeof nodes, "%lld", (long long)s->r->nodes);
    const char *const labels[][2] = {{"source", "gradsync"},
                                     {"platform", s->r->platform},
                                     {"workload", s->r->workload},
                                     {"run_id", s->r->run_id},
                                     {"cell", c->id},
                                     {"config", c->config},
                                     {"mode", c->mode},
                                     {"collective", collective},
                                     {"message_size", size},
                                     {"algo_proto", c->ran},
                                     {"nranks", ranks},
                                     {"n_nodes", nodes}};
    text_addf(t, "%s{", k->name);
    for (size_t n = 0; n < sizeof labels / sizeof *labels; n++)
        text_add_label(t, labels[n][0], labels[n][1]);
    text_addf(t, "} %.6g\n", k->of(&s->cells[i]));
}

static char *prometheus_of(const struct run_summary *s)
{
    struct text t = {0};
    for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++) {
        bool any = false;
        for (size_t i = 0; i < s->r->n_cells; i++) {
            if (!nccl_sections_has(&s->r->cells[i], &s->cells[i]))
                continue;
            if (!any)
                text_addf(&t, "# HELP %s %s\n# TYPE %s gauge\n", metrics[k].name, metrics[k].help,
                          metrics[k].name);
            any = true;
            add_series(&t, &metrics[k], s, i);
        }
    }
    return t.s;
}

/* ---- the formats ---- */

static char *nccl_of(const struct run_summary *s)
{
    return nccl_table_text(s->r, s->cells);
}

static char *nccl_json_of(const struct run_summary *s)
{
    return nccl_table_json(s->r, s->cells);
}

static const struct {
    const char *name;
    char *(*text)(const struct run_summary *s); /* NULL: no collective */
} formats[] = {{"json", json_of},
               {"nccl-tests", nccl_of},
               {"nccl-tests-json", nccl_json_of},
               {"prometheus", prometheus_of}};

static int write_text(const char *text, const char *out)
{
    if (out)
        return csv_write_file(out, text);
    fputs(text, stdout);
    return GS_OK;
}

/* Writes the run as `format`, json, nccl-tests, nccl-tests-json or prometheus, to the file `out`, or to
 * stdout if it is NULL. GS_OK or reported. */
static int show_format(const char *dir, const char *format, const char *out)
{
    AUTO(run_summary_free) struct run_summary s = {0};
    size_t k = 0;
    while (k < COUNT(formats) && strcmp(formats[k].name, format))
        k++;
    if (k == COUNT(formats))
        return fail(GS_USAGE,
                    "show: no format '%s'%s; formats are json, nccl-tests, nccl-tests-json and "
                    "prometheus",
                    format, DID_YOU_MEAN(NEAREST(format, formats, COUNT(formats), name)));
    int code = run_summary_read(&s, dir);
    AUTO_FREE char *text = code ? NULL : formats[k].text(&s);
    if (!code && !text)
        code =
            fail(GS_USAGE, "%s: holds no collective, which %s needs; --format json has all cells",
                 dir, format);
    return code ? code : write_text(text, out);
}

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
    code = runs_choose(&choice, (const char *const *)words, (size_t)n);
    const struct run_folder *latest = code ? NULL : runs_choice_latest(&choice);
    if (latest && (q->format || q->json))
        code = show_format(latest->dir, q->format ? q->format : "json", q->out);
    else if (latest) {
        choice.one = true;
        runs_choice_say(&choice);
        code = show_run(latest->dir);
    }
    runs_choice_free(&choice);
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
    const struct cli cli = {.arguments = "[PLATFORM | RUN | RAW]",
                            .summary = "Prints a table of a run, of the latest run of "
                                       "a platform or of the latest below RAW (default: the "
                                       "latest run of this machine).",
                            .example = "gradsync show local",
                            .options = options,
                            .args = {0, 1}};
    return cli_request(&cli, argc, argv, show, &q);
}

/* ---- list ----
 *
 * `gradsync list`: lists the plugins and configs that gradsync finds. With a kind, prints only its
 * names, for scripts and shell completion.
 */

static void put_plugin(void *ctx, const char *name, const char *path, const struct plugin *p,
                       const char *why)
{
    int *n = ctx;
    ++*n;
    printf("  %-16s %-6s %s\n", name, p ? p->wl.version : "-", p ? p->wl.summary : why);
    printf("  %-16s %-6s %s\n", "", "", path);
}

static void put_config(const char *dir, const char *file)
{
    char why[1024];
    AUTO_FREE char *path = xstrfmt("%s/%s", dir, file);
    AUTO(config_free_of) struct config *c = NULL;
    err_capture(why, sizeof why);
    config_load(&c, path, NULL);
    err_capture(NULL, 0);
    const struct config_entry *title = c ? config_find(c, "platform", "title") : NULL;
    printf("  %-16.*s %s\n", (int)strlen(file) - 4, file, path);
    if (!c || title)
        printf("  %-16s %s\n", "", c ? title->value : why);
}

/* Returns the number of configs. */
static size_t put_configs(const char *dir)
{
    AUTO_WORDS struct words files = {0};
    files_list(dir, "*.ini", &files);
    for (size_t i = 0; i < files.n; i++)
        put_config(dir, files.v[i]);
    return files.n;
}

static int list(void)
{
    int n = 0;
    printf("workload plugins ('gradsync help NAME' shows the parameters)\n");
    plugin_each(put_plugin, &n);
    if (!n)
        printf("  none; searched: $GRADSYNC_PLUGIN_PATH %s %s/plugins %s/../lib/gradsync/plugins\n",
               program_dir(), program_dir(), program_dir());
    printf("\nconfigs ('gradsync plan NAME' shows the cells)\n");
    AUTO_FREE char *installed = locate_installed_configs();
    if (put_configs("configs") + put_configs(installed) == 0)
        printf("  none; searched: configs %s\n", installed);
    return GS_OK;
}

/* ---- names of one kind ---- */

static void verb_names(struct words *names)
{
    *names = (struct words){0};
#define VERB(name, run, arguments, help) words_add(names, name);
    EACH_VERB(VERB)
#undef VERB
}

/* For make, which cannot quote: a folder or file that others named ends the list. */
static int recordings(struct words *names)
{
    *names = (struct words){0};
    return runs_names(names, "data/raw");
}

static int platforms(struct words *names)
{
    int code = GS_OK;
    *names = (struct words){0};
    files_list("configs", "*.ini", names);
    for (size_t i = 0; i < names->n; i++) {
        char *file = names->v[i];
        if (!printable_name(file))
            code = fail_at(GS_FAILED, "configs", 0, "'%s' is not a name (%s); rename the file",
                           file, PRINTABLE_NAME_RULE);
        file[strlen(file) - strlen(".ini")] = '\0';
    }
    return code;
}

static const struct {
    const char *kind;
    void (*names)(struct words *names);
    int (*sound)(struct words *names);
} kinds[] = {{"verbs", verb_names, NULL},          {"plugins", plugin_names, NULL},
             {"configs", locate_configs, NULL},    {"runs", locate_runs, NULL},
             {"measured", locate_platforms, NULL}, {"recordings", NULL, recordings},
             {"platforms", NULL, platforms}};

static int list_names(const char *kind)
{
    for (size_t i = 0; i < COUNT(kinds); i++) {
        AUTO_WORDS struct words names = {0};
        if (strcmp(kind, kinds[i].kind))
            continue;
        int code = kinds[i].sound ? kinds[i].sound(&names) : (kinds[i].names(&names), GS_OK);
        for (size_t k = 0; k < names.n && !code; k++)
            printf("%s\n", names.v[k]);
        return code;
    }
    const char *near = NEAREST(kind, kinds, COUNT(kinds), kind);
    return fail(GS_USAGE,
                "list: no kind '%s'%s; kinds are verbs, plugins, configs, runs, measured, "
                "recordings and platforms",
                kind, DID_YOU_MEAN(near));
}

static int run(void *request, char **words, int n)
{
    (void)request;
    return n ? list_names(words[0]) : list();
}

int cmd_list(int argc, char **argv)
{
    static const struct cli_option options[] = {{0}};
    static const struct cli cli = {
        .arguments = "[verbs | plugins | configs | runs | measured | recordings | platforms]",
        .summary =
            "Lists the workload plugins and configs that gradsync finds, or the names of one "
            "kind, one per line. measured: platforms with recordings; runs: ids of runs; "
            "recordings: run folders below data/raw; platforms: those of configs/.",
        .example = "gradsync list plugins",
        .options = options,
        .args = {0, 1}};
    return cli_request(&cli, argc, argv, run, NULL);
}
