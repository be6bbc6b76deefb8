/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync help [WORD]`: what the tables say of a verb, a plugin, a section or a key of configs,
 * in 80 columns.
 */
#include "base/cli.h"
#include "base/err.h"
#include "base/text.h"
#include "config/params.h"
#include "config/settings.h"
#include "plugin/plugin.h"
#include "verbs/commands.h"
#include "wan/wan_sections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 18

static const char *const types[] = {
    [WL_INT] = "integer", [WL_SIZE] = "size", [WL_REAL] = "number",   [WL_TIME] = "time",
    [WL_RATE] = "rate",   [WL_BOOL] = "bool", [WL_CHOICE] = "choice", [WL_TEXT] = "text"};
static const char *const roles[] = {[WL_AXIS] = "axis", [WL_CONFIG] = "config", [WL_MODE] = "mode"};
static const char *const across[] = {
    [WL_MAX] = "the ranks' longest", [WL_SUM] = "the ranks' sum", [WL_MEAN] = "the ranks' mean"};

/* `role`: where it stands in a comparison; "" for a setting, which stands in none. */
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
    if (!p->def) /* never but where it is said, and then of any size */
        return;
    cli_put_wrapped(INDENT, param_allowed(p, allowed, sizeof allowed));
}

static void put_metric(const struct wl_metric *m)
{
    char line[512];
    printf("  %-15s %s\n", m->name, m->unit);
    snprintf(line, sizeof line, "%s; %s", m->help, across[m->across]);
    cli_put_wrapped(INDENT, line);
}

static int plugin_help(const char *name)
{
    struct plugin *p;
    int code = plugin_load(&p, name);
    if (code)
        return code;
    char *about = xstrfmt("parameters: keys of [%s] in a config, where a list is swept; configs "
                          "are compared with each "
                          "other at the same point of every axis, mode by mode",
                          p->wl.name);
    printf("%s %s\n", p->wl.name, p->wl.version);
    cli_put_wrapped(2, p->wl.summary);
    putchar('\n');
    cli_put_wrapped(0, about);
    free(about);
    for (const struct wl_param *q = p->wl.params; q->name; q++)
        put_param(q, roles[q->role]);
    printf("\nmetrics\n");
    for (const struct wl_metric *m = p->wl.metrics; m->name; m++)
        put_metric(m);
    plugin_unload(p);
    return GS_OK;
}

/* ---- sections and keys of configs ---- */

/* What another module reads there. */
static void put_words(const char *section)
{
    for (const struct wan_words *w = wan_words; w->section; w++) {
        if (strcmp(w->section, section))
            continue;
        if (w->form)
            putchar('\n'), cli_put_wrapped(2, w->form);
        for (const struct wl_param *p = w->table; p->name; p = wan_words_next(w, p))
            put_param(p, "");
    }
}

static void put_section(const struct settings_section *s)
{
    printf("[%s%s]\n", s->name, s->labelled ? " NAME" : "");
    cli_put_wrapped(2, s->help);
    for (const struct wl_param *p = s->table; p && p->name; p++)
        put_param(p, "");
    put_words(s->name);
}

static bool section_help(const char *word)
{
    const struct settings_section *s = settings_section_find(word);
    if (s)
        put_section(s);
    return s;
}

static bool key_help(const char *word)
{
    bool found = false;
    for (const struct settings_section *s = settings_sections; s->name; s++) {
        const struct wl_param *p = s->table ? params_find(s->table, word) : NULL;
        if (!p)
            continue;
        printf("%sa key of [%s]\n", found ? "\n" : "", s->name);
        put_param(p, "");
        found = true;
    }
    for (const struct wan_words *w = wan_words; w->section; w++)
        for (const struct wl_param *p = w->table; p->name; p = wan_words_next(w, p)) {
            if (strcmp(p->name, word))
                continue;
            printf("%sa %s of [%s]\n", found ? "\n" : "", w->form ? "word" : "key", w->section);
            put_param(p, "");
            found = true;
        }
    return found;
}

static bool has_words(const char *section)
{
    const struct wan_words *w = wan_words;
    while (w->section && strcmp(w->section, section))
        w++;
    return w->section;
}

static bool configs_help(const char *word)
{
    if (strcmp(word, "config") && strcmp(word, "configs"))
        return false;
    printf("sections of a config; 'gradsync help SECTION' lists the keys of those with *\n");
    for (const struct settings_section *s = settings_sections; s->name; s++)
        printf("  [%s%s]%s\n", s->name, s->labelled ? " NAME" : "",
               s->table || has_words(s->name) ? " *" : ""),
            cli_put_wrapped(INDENT, s->help);
    printf("  [PLUGIN], [PLUGIN LABEL]\n");
    cli_put_wrapped(INDENT,
                    "a workload: its keys are the plugin's parameters, and there a list or a "
                    "range is swept; 'gradsync help PLUGIN'");
    return true;
}

/* ---- any word ---- */

static bool is_plugin(const char *word, const struct words *names)
{
    size_t n = strlen(word);
    for (size_t i = 0; i < names->n; i++)
        if (!strcmp(word, names->v[i]))
            return true;
    return strchr(word, '/') || (n > 3 && !strcmp(word + n - 3, ".so"));
}

static int no_such_word(const char *word, struct words *names)
{
    for (size_t i = 0; main_verb(i); i++)
        words_add(names, main_verb(i));
    for (const struct settings_section *s = settings_sections; s->name; s++) {
        words_add(names, s->name);
        for (const struct wl_param *p = s->table; p && p->name; p++)
            words_add(names, p->name);
    }
    for (const struct wan_words *w = wan_words; w->section; w++)
        for (const struct wl_param *p = w->table; p->name; p = wan_words_next(w, p))
            words_add(names, p->name);
    const char *near = text_nearest(word, (const char *const *)names->v, names->n);
    return fail(GS_USAGE,
                "help: no verb, plugin, section or key '%s'%s; 'gradsync help' and "
                "'gradsync list' show what there is",
                word, DID_YOU_MEAN(near));
}

static int word_help(const char *word)
{
    bool verb = main_help_verb(word);
    if (verb && settings_section_find(word))
        putchar('\n');
    if (section_help(word) || verb || configs_help(word))
        return GS_OK;
    struct words plugins;
    plugin_names(&plugins);
    int code = GS_OK;
    if (is_plugin(word, &plugins))
        code = plugin_help(word);
    else if (!key_help(word))
        code = no_such_word(word, &plugins);
    words_free(&plugins);
    return code;
}

static int run(int n, char **words)
{
    return n ? word_help(words[0]) : main_help();
}

int cmd_help(int argc, char **argv)
{
    static const struct cli_option options[] = {{0}};
    static const struct cli cli = {
        "help",
        "[VERB | PLUGIN | SECTION | KEY | config]",
        "the verbs; a verb's options; a plugin's parameters; the keys of a config's section",
        options,
        0,
        1};
    return cli_words(&cli, argc, argv, run);
}
