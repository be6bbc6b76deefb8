/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/files.h"
#include "base/shell.h"
#include "base/text.h"
#include "base/version.h"
#include "config/params.h"
#include "config/settings.h"
#include "plugin/plugin.h"
#include "publish/columns.h"
#include "verbs/commands.h"
#include "wan/wan_audit.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *arguments, *help; /* help NULL: listed in the row above */
} verbs[] = {
#define VERB(name, run, arguments, help) {name, run, arguments, help},
    EACH_VERB(VERB)
#undef VERB
};

/* Verbs of earlier versions, and what does their work now. */
static const struct old_verb {
    const char *name, *now;
} old_verbs[] = {
    {"advise", "'gradsync compare PLATFORM' ends with what to set"},
    {"cancel",
     "'gradsync status' names the jobs; scancel cancels them, and keeps what is recorded"},
    {"collect", "'gradsync status CAMPAIGN' also copies complete runs to data/raw"},
    {"fabric", "type gradsync check --machine"},
    {"list", "type gradsync help plugins, or help configs, runs, measured"},
    {"reduce", "type gradsync query --export DIR [RAW]"},
    {"limits", "'gradsync query --export DIR' writes limits.csv, and 'gradsync show' names cells "
               "above the limit"},
    {"transitions",
     "'gradsync query --export DIR' writes transitions.csv, and the figures mark them"},
    {"suspects", "DCGM and nvbandwidth test GPUs and their links; 'gradsync show RUN' names "
                 "launches that something else disturbed"},
    {"lab-enter", "type gradsync lab enter SITE COMMAND"},
    {"lab-set", "type gradsync lab set ORDER"},
    {"trial", "'gradsync tune --arms FILE -- COMMAND' compares settings inside a running job"},
    {"train", "'gradsync tune --launches FILE -- COMMAND' launches a job anew for each setting"},
    {"prove", "type gradsync tune -- COMMAND"},
    {"why", "'gradsync query' shows the rows behind a number; those of the paper are in "
            "paper/numbers.sql"},
};

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < COUNT(verbs); i++)
        if (!strcmp(name, verbs[i].name))
            return &verbs[i];
    return NULL;
}

/* Fits a screen of 24 lines and 80 columns. */
static int main_help(void)
{
    printf("gradsync %s: measures gradient synchronisation. Usage: gradsync VERB ...\n",
           GRADSYNC_VERSION);
    for (size_t i = 0; i < COUNT(verbs); i++) {
        char left[40];
        snprintf(left, sizeof left, "%s %s", verbs[i].name, verbs[i].arguments);
        printf("  %-22s %s", left, verbs[i].help);
        for (; i + 1 < COUNT(verbs) && !verbs[i + 1].help; i++)
            printf(" %s", verbs[i + 1].name);
        putchar('\n');
    }
    AUTO_FREE char *example =
        err_as_called("gradsync tune -- torchrun --nproc_per_node 2 train.py");
    AUTO_WORDS struct words plugins = {0};
    plugin_names(&plugins);
    printf("Example: %s\n"
           "'gradsync help VERB' lists options; 'help PLUGIN' and 'help config' list keys.\n"
           "%s\n"
           "Exit: 0 done; 1 something measured failed; 2 usage or config; 3 cannot run here.\n",
           example,
           plugins.n
               ? "GRADSYNC_PLUGIN_PATH=DIR: find plugins there too."
               : "No plugins here: plan, run and submit need gradsync built from its source.");
    return GS_OK;
}

/* ---- help ----
 *
 * `gradsync help [WORD]`: describes a verb, a plugin, a section of configs, or a table or column, in 80
 * columns.
 * The text comes from the tables that also parse the command line and the configs.
 */

#define INDENT 18

static const char *const types[] = {
    [WL_INT] = "integer", [WL_SIZE] = "size", [WL_REAL] = "number",   [WL_TIME] = "time",
    [WL_RATE] = "rate",   [WL_BOOL] = "bool", [WL_CHOICE] = "choice", [WL_TEXT] = "text"};
static const char *const roles[] = {[WL_AXIS] = "axis", [WL_CONFIG] = "config", [WL_MODE] = "mode"};
static const char *const across[] = {[WL_MAX] = "maximum over ranks",
                                     [WL_SUM] = "sum over ranks",
                                     [WL_MEAN] = "mean over ranks",
                                     [WL_EACH] = "recorded for each rank"};

/* `role`: axis, config or mode; "" for a setting, which has none. */
static void put_param(const struct wl_param *p, const char *role)
{
    char allowed[2048], type[32], unit[24] = "";
    if (p->unit && *p->unit)
        snprintf(unit, sizeof unit, ", %s", p->unit);
    snprintf(type, sizeof type, "%s%s", types[p->type], unit);
    if (p->def)
        printf("  %-15s %-14s %-*s default %s\n", p->name, type, role ? 8 : 0, role,
               *p->def ? p->def : "\"\"");
    else
        printf("  %-15s %s\n", p->name, type);
    cli_put_wrapped(INDENT, p->help);
    if (!p->def) /* such a key is free text: it has no default and no range */
        return;
    cli_put_wrapped(INDENT, param_allowed(p, allowed, sizeof allowed));
}

static int plugin_help(const char *name)
{
    struct plugin *p;
    CHECK(plugin_try(name));
    CHECK(plugin_load(&p, name));
    AUTO_FREE char *about =
        xstrfmt("Parameters are keys of [%s] in a config; a list of values is a sweep. "
                "Configs are compared with each other at equal values of all axes "
                "and in the same mode.",
                p->wl.name);
    printf("%s %s\n", p->wl.name, p->wl.version);
    cli_put_wrapped(2, p->wl.summary);
    putchar('\n');
    cli_put_wrapped(0, about);
    for (const struct wl_param *q = p->wl.params; q->name; q++)
        put_param(q, roles[q->role]);
    printf("\nmetrics\n");
    for (const struct wl_metric *m = p->wl.metrics; m->name; m++) {
        AUTO_FREE char *line = xstrfmt("%s; %s", m->help, across[m->across]);
        printf("  %-15s %s\n", m->name, m->unit);
        cli_put_wrapped(INDENT, line);
    }
    plugin_unload(p);
    return GS_OK;
}

/* ---- sections and keys of configs ---- */

static const char *const examples[][2] = {
    {"platform", "title = My server"},     {"launch", "ranks = 4"},
    {"measure", "launches = 5"},           {"slurm", "partition = gpu"},
    {"cost", "usd_per_hour = 14"},         {"limits", "busbw = 450GB/s"},
    {"sites", "west = gpus=2 up=1Gbit/s"}, {"links", "rate = 1Gbit/s"},
    {"model", "parameters = 1.3e9"},       {"reference", "busbw = 449GB/s"},
};

static const struct wl_param none[] = {{0}};
/* The keys of the model of a WAN: the same tables read the config. */
static const struct {
    const char *section, *form; /* form: the line that contains these pairs; NULL: they are keys */
    const struct wl_param *table;
} wan_words[] = {
    {"sites", "NAME = gpus=2 up=1Gbit/s …", wan_site_words},
    {"links", NULL, wan_link_words},
    {"links", NULL, wan_links_words},
    {"links",
     "A-B = rate=… rtt=… … sets one link in both directions, A>B = … in one direction, with the "
     "keys above.",
     none},
    {"model", NULL, wan_training_words},
    {"model",
     "claim.NAME = VALUE or LOW..HIGH is a published claim, which check and model compare with "
     "what is possible. claim.NAME.source, or source for all, names the publication. NAME:",
     wan_claims}};

static void put_section(const struct settings_section *s)
{
    printf("[%s]\n", s->name);
    cli_put_wrapped(2, s->help);
    for (size_t i = 0; i < COUNT(examples); i++)
        if (!strcmp(examples[i][0], s->name))
            printf("\nexample\n  [%s]\n  %s\n\n", s->name, examples[i][1]);
    for (const struct wl_param *p = s->table; p && p->name; p++)
        put_param(p, "");
    for (size_t i = 0; i < COUNT(wan_words); i++) {
        if (strcmp(wan_words[i].section, s->name))
            continue;
        if (wan_words[i].form)
            putchar('\n'), cli_put_wrapped(2, wan_words[i].form);
        for (const struct wl_param *p = wan_words[i].table; p->name; p++)
            put_param(p, "");
    }
}

static bool configs_help(const char *word)
{
    if (strcmp(word, "config"))
        return false;
    printf("Sections of a config. 'gradsync help SECTION' lists the keys of those with *.\n"
           "\nexample\n"
           "  [platform]\n  title = My server\n  [launch]\n  ranks = 4\n"
           "  [mpi_allreduce]\n  size = 1KiB, 64KiB, 4MiB\n\nsections\n");
    for (const struct settings_section *s = settings_sections; s->name; s++) {
        size_t w = 0;
        while (w < COUNT(wan_words) && strcmp(wan_words[w].section, s->name))
            w++;
        printf("  [%s]%s\n", s->name, s->table || w < COUNT(wan_words) ? " *" : "");
        cli_put_wrapped(INDENT, s->help);
    }
    printf("  [PLUGIN], [PLUGIN LABEL]\n");
    cli_put_wrapped(INDENT,
                    "a workload: its keys are the plugin's parameters, and a list or range of "
                    "values is a sweep; see 'gradsync help PLUGIN'");
    return true;
}

/* ---- any word ---- */

static int no_such_word(const char *word, struct words *names)
{
    for (size_t i = 0; i < COUNT(verbs); i++)
        words_add(names, verbs[i].name);
    for (const struct settings_section *s = settings_sections; s->name; s++)
        words_add(names, s->name);
    columns_names(names);
    return fail(GS_USAGE,
                "help: no verb, plugin, section, table or column '%s'%s; 'gradsync help' "
                "lists the verbs, 'gradsync help plugins' the plugins, 'gradsync help config' the "
                "sections, 'gradsync help tables' the tables",
                word, DID_YOU_MEAN(text_nearest(word, (const char *const *)names->v, names->n)));
}

static int word_help(const char *word)
{
    bool is_kind;
    int printed = names_print(word, &is_kind);
    if (is_kind)
        return printed;
    const struct verb *verb = find_verb(word);
    if (verb)
        CHECK(verb->run(2, (char *[]){(char *)word, "--help", NULL}));
    const struct settings_section *section = settings_section_find(word);
    if (verb && section)
        putchar('\n');
    if (section)
        put_section(section);
    bool known = section || verb || configs_help(word) || columns_list(word);
    if (known) {
        columns_help(word, "\n");
        return GS_OK;
    }
    AUTO_WORDS struct words plugins = {0};
    plugin_names(&plugins);
    if (words_has(&plugins, word) || strchr(word, '/') || text_ends(word, ".so"))
        return plugin_help(word);
    return columns_help(word, "") ? GS_OK : no_such_word(word, &plugins);
}

static int run(void *markdown, char **words, int n)
{
    if (*(const bool *)markdown)
        return columns_markdown(), GS_OK;
    return n ? word_help(words[0]) : main_help();
}

int cmd_help(int argc, char **argv)
{
    bool markdown = false;
    const struct cli_option options[] = {
        {"markdown", 0, CLI_FLAG, &markdown, NULL, "print the lists of docs/tables.md"}, {0}};
    const struct cli cli = {.arguments = "[VERB | PLUGIN | SECTION | config | TABLE | COLUMN | "
                                         "tables | plugins | configs | runs | measured]",
                            .summary =
                                "Describes a verb, a plugin, a section of "
                                "configs, or a table (samples.csv), column (floor) "
                                "or quantity (T_ss) of the results. "
                                "Without an argument: lists the verbs. plugins, configs, runs, "
                                "measured (platforms with recordings): lists those found "
                                "here.",
                            .example = "gradsync help measure",
                            .options = options,
                            .args = {0, 1}};
    return cli_request(&cli, argc, argv, run, &markdown);
}

/* ---- main ---- */

static int unknown_verb(const char *word, const char *next)
{
    for (size_t i = 0; i < COUNT(old_verbs); i++)
        if (!strcmp(word, old_verbs[i].name))
            return fail(GS_USAGE, "no verb '%s' any more: %s", word, old_verbs[i].now);
    const char *near = NEAREST(word, verbs, COUNT(verbs), name);
    if (!near && next && find_verb(next))
        return fail(GS_USAGE, "no verb '%s'; the verb comes first: gradsync %s %s", word, next,
                    SHELL_WORD(word));
    return fail(GS_USAGE, "no verb '%s'; 'gradsync help' lists them%s", word, DID_YOU_MEAN(near));
}

static int run_verb(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return main_help();
    if (!strcmp(argv[1], "--version")) {
        printf("gradsync %s (%s)\n", GRADSYNC_VERSION, gradsync_commit);
        return GS_OK;
    }
    const struct verb *v = find_verb(argv[1]);
    return v ? v->run(argc - 1, argv + 1) : unknown_verb(argv[1], argv[2]);
}

int main(int argc, char **argv)
{
    /* If the parent ignores SIGCHLD, waitpid would not return exit codes. */
    signal(SIGCHLD, SIG_DFL);
#define NAME(name, run, arguments, help) " " name " "
    err_called(SHELL_WORD(argc ? argv[0] : "gradsync"), EACH_VERB(NAME));
#undef NAME
    /* No setlocale: numbers keep the C format in every locale. */
    int code = run_verb(argc, argv);
    bool lost_now = fflush(stdout) != 0;
    if (!lost_now && !ferror(stdout))
        return code;
    /* The reason of an earlier loss is gone. */
    int lost = fail(GS_FAILED, "standard output cannot be written: %s",
                    lost_now ? strerror(errno) : "a part of it is lost");
    return code ? code : lost;
}
