/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync help [PLUGIN]`: what a plugin's tables say, in 80 columns.
 */
#include "cli.h"
#include "commands.h"
#include "err.h"
#include "params.h"
#include "plugin.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 80
#define INDENT 18

static const char *const types[] = {
    [WL_INT] = "integer", [WL_SIZE] = "size", [WL_REAL] = "number",   [WL_TIME] = "time",
    [WL_RATE] = "rate",   [WL_BOOL] = "bool", [WL_CHOICE] = "choice", [WL_TEXT] = "text"};
static const char *const roles[] = {[WL_AXIS] = "axis", [WL_CONFIG] = "config", [WL_MODE] = "mode"};
static const char *const across[] = {
    [WL_MAX] = "the ranks' longest", [WL_SUM] = "the ranks' sum", [WL_MEAN] = "the ranks' mean"};

/* Words from column `indent` on, wrapped. */
static void put_wrapped(size_t indent, const char *s)
{
    size_t column = 0;
    while (*s) {
        size_t n = strcspn(s, " ");
        if (column && column + 1 + n > WIDTH) {
            putchar('\n');
            column = 0;
        }
        column += column ? (size_t)printf(" %.*s", (int)n, s)
                         : (size_t)printf("%*s%.*s", (int)indent, "", (int)n, s);
        s += n + strspn(s + n, " ");
    }
    putchar('\n');
}

static void put_param(const struct wl_param *p)
{
    char allowed[2048], type[32], unit[24] = "";
    if (p->unit && *p->unit)
        snprintf(unit, sizeof unit, ", %s", p->unit);
    snprintf(type, sizeof type, "%s%s", types[p->type], unit);
    printf("  %-15s %-14s %-8s default %s\n", p->name, type, roles[p->role],
           *p->def ? p->def : "\"\"");
    put_wrapped(INDENT, p->help);
    put_wrapped(INDENT, param_allowed(p, allowed, sizeof allowed));
}

static void put_metric(const struct wl_metric *m)
{
    char line[512];
    printf("  %-15s %s\n", m->name, m->unit);
    snprintf(line, sizeof line, "%s; %s", m->help, across[m->across]);
    put_wrapped(INDENT, line);
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
    put_wrapped(2, p->wl.summary);
    putchar('\n');
    put_wrapped(0, about);
    free(about);
    for (const struct wl_param *q = p->wl.params; q->name; q++)
        put_param(q);
    printf("\nmetrics\n");
    for (const struct wl_metric *m = p->wl.metrics; m->name; m++)
        put_metric(m);
    plugin_unload(p);
    return GS_OK;
}

int cmd_help(int argc, char **argv)
{
    static const struct cli_option options[] = {{0}};
    static const struct cli cli = {
        "help",
        "[VERB | PLUGIN]",
        "the verbs, a verb's options, or a plugin's parameters and metrics",
        options,
        0,
        1};
    char **args = xcalloc((size_t)argc, sizeof *args);
    int n;
    bool done;
    int code = cli_parse(&cli, argc, argv, args, &n, &done);
    if (!code && !done && !(n && main_help_verb(args[0])))
        code = n ? plugin_help(args[0]) : main_help();
    free(args);
    return code;
}
