/* SPDX-License-Identifier: Apache-2.0
 *
 * What a plugin's tables must be, so that the parser, the help and the CSVs can rely on them.
 */
#include "base/text.h"
#include "config/params.h"
#include "config/settings_tables.h"
#include "plugin/plugin.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN 32
#define SUMMARY_MAX_LEN 80
#define TABLE_MAX 256 /* a table with no end is read no further */

struct lint {
    const struct plugin *plugin;
    void (*report)(void *ctx, const char *line);
    void *ctx;
    int faults;
};

__attribute__((format(printf, 2, 3))) static void fault(struct lint *l, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    l->report(l->ctx, line);
    l->faults++;
}

static bool is_identifier(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return n > 0 && n <= NAME_MAX_LEN && !s[n] && s[0] >= 'a';
}

static bool is_one_line(const char *s)
{
    return s && *s && !strpbrk(s, "\n\r\t");
}

/* ---- the struct ---- */

static void lint_functions(struct lint *l)
{
    const struct wl_plugin *w = &l->plugin->wl;
    const struct {
        const char *name;
        bool there;
    } functions[] = {
        {"describe", w->describe}, {"open", w->open},       {"close", w->close},
        {"prepare", w->prepare},   {"release", w->release}, {"sample", w->sample},
        {"verify", w->verify},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!functions[i].there)
            fault(l, "has no %s()", functions[i].name);
}

static void lint_identity(struct lint *l)
{
    const struct wl_plugin *w = &l->plugin->wl;
    const char *file = path_name(l->plugin->path);
    if (!w->name || !is_identifier(w->name))
        fault(l, "name '%s' is not a lower-case identifier", w->name ? w->name : "(NULL)");
    else if (settings_section_find(w->name))
        fault(l, "name '%s' is a fixed section of configs: choose another", w->name);
    else if (strlen(file) != strlen(w->name) + 3 || strncmp(file, w->name, strlen(w->name)))
        fault(l, "name '%s' differs from the file name: rename the file to %s.so", w->name,
              w->name);
    if (!is_one_line(w->version))
        fault(l, "version is empty, or not one line");
    if (!is_one_line(w->summary) || strlen(w->summary) > SUMMARY_MAX_LEN)
        fault(l, "summary is empty, not one line, or longer than %d bytes", SUMMARY_MAX_LEN);
}

/* ---- the parameters ---- */

static void lint_param_name(struct lint *l, const struct wl_param *table, size_t i)
{
    const char *name = table[i].name;
    if (!is_identifier(name))
        fault(l, "parameter '%s': the name is not a lower-case identifier of at most %d letters",
              name, NAME_MAX_LEN);
    for (size_t j = 0; j < i; j++)
        if (!strcmp(table[j].name, name))
            fault(l, "parameter '%s' is declared twice", name);
    for (size_t j = 0; j < SWEEP_KEYS; j++)
        if (!strcmp(sweep_keys[j], name))
            fault(l, "parameter '%s': the name is a key of every workload section", name);
}

/* Labels and sweeps are made of choices: "ring/LL128", "a, b", "dtype=int32; op=max". */
static void lint_choices(struct lint *l, const struct wl_param *p)
{
    if (p->type != WL_CHOICE) {
        if (p->choices)
            fault(l, "parameter '%s' has choices, but is not a WL_CHOICE", p->name);
        return;
    }
    if (!p->choices || !p->choices[0])
        fault(l, "parameter '%s' is a WL_CHOICE without choices", p->name);
    for (size_t i = 0; p->choices && p->choices[i]; i++) {
        if (!p->choices[i][0] || strpbrk(p->choices[i], " ,;=/:\t\n\"#"))
            fault(l, "parameter '%s': choice '%s' is empty or holds one of ' ,;=/:\"#'", p->name,
                  p->choices[i]);
        for (size_t j = 0; j < i; j++)
            if (!strcmp(p->choices[i], p->choices[j]))
                fault(l, "parameter '%s': choice '%s' is listed twice", p->name, p->choices[i]);
    }
}

static void lint_range(struct lint *l, const struct wl_param *p)
{
    if (isnan(p->min) || isnan(p->max) || p->min > p->max)
        fault(l, "parameter '%s': min %g is above max %g", p->name, p->min, p->max);
}

/* The member lies inside the cell and on no other's place. */
static bool lint_place(struct lint *l, const struct wl_param *table, size_t i)
{
    const struct wl_param *p = &table[i];
    size_t size = param_size(p), cell = l->plugin->wl.cell_size;
    bool inside = p->offset <= cell && size <= cell - p->offset;
    if (!inside)
        fault(l, "parameter '%s': offset %zu + %zu bytes lie outside the cell of %zu bytes",
              p->name, p->offset, size, cell);
    for (size_t j = 0; j < i; j++)
        if (table[j].type <= WL_TEXT && table[j].offset < p->offset + size &&
            p->offset < table[j].offset + param_size(&table[j]))
            fault(l, "parameters '%s' and '%s' overlap: correct an offset", table[j].name, p->name);
    return inside;
}

static void lint_default(struct lint *l, const struct wl_param *p)
{
    if (p->type == WL_CHOICE && (!p->choices || !p->choices[0]))
        return;
    if (!p->def) {
        fault(l, "parameter '%s' has no default", p->name);
        return;
    }
    char why[512];
    AUTO_FREE void *cell = xcalloc(1, l->plugin->wl.cell_size);
    if (!param_parse(p, p->def, cell, why, sizeof why))
        fault(l, "parameter '%s': the default %s", p->name, why);
}

static void lint_param(struct lint *l, const struct wl_param *table, size_t i)
{
    const struct wl_param *p = &table[i];
    lint_param_name(l, table, i);
    if (!is_one_line(p->help))
        fault(l, "parameter '%s': help is empty, or not one line", p->name);
    if ((unsigned)p->role > WL_MODE)
        fault(l, "parameter '%s': role %d is none of WL_AXIS, WL_CONFIG, WL_MODE", p->name,
              (int)p->role);
    if ((unsigned)p->type > WL_TEXT) {
        fault(l, "parameter '%s': type %d is unknown", p->name, (int)p->type);
        return;
    }
    lint_choices(l, p);
    lint_range(l, p);
    if (lint_place(l, table, i))
        lint_default(l, p);
}

static void lint_params(struct lint *l)
{
    const struct wl_param *table = l->plugin->wl.params;
    if (!table) {
        fault(l, "has no params table; an empty one is {{0}}");
        return;
    }
    size_t i = 0;
    for (; i < TABLE_MAX && table[i].name; i++)
        lint_param(l, table, i);
    if (i == TABLE_MAX)
        fault(l, "params do not end with a NULL name");
}

static void lint_added(struct lint *l)
{
    const struct wl_plugin *w = &l->plugin->wl;
    for (const char *const *added = w->added; added && *added; added++)
        if (w->params && !params_find(w->params, *added))
            fault(l, "added holds '%s', which is not a parameter", *added);
}

/* ---- the metrics ---- */

static void lint_metrics(struct lint *l)
{
    const struct wl_metric *m = l->plugin->wl.metrics;
    if (!m || !m[0].name) {
        fault(l, "has no metrics: the first is \"time\" in \"s\"");
        return;
    }
    if (strcmp(m[0].name, "time") || !m[0].unit || strcmp(m[0].unit, "s"))
        fault(l, "metric '%s' is first, but the first must be \"time\" in \"s\"", m[0].name);
    size_t i = 0;
    for (; i <= WL_METRICS_MAX && m[i].name; i++) {
        if (!is_identifier(m[i].name))
            fault(l, "metric '%s': the name is not a lower-case identifier", m[i].name);
        if (!m[i].unit || !is_one_line(m[i].help))
            fault(l, "metric '%s' has no unit, or its help is empty or not one line", m[i].name);
        if ((unsigned)m[i].across > WL_EACH)
            fault(l, "metric '%s': across %d is none of WL_MAX, WL_SUM, WL_MEAN, WL_EACH",
                  m[i].name, (int)m[i].across);
        if (!strcmp(m[i].name, "time_ns"))
            fault(l, "metric 'time_ns': recordings use this name for samples; choose another");
        for (size_t j = 0; j < i; j++)
            if (!strcmp(m[j].name, m[i].name))
                fault(l, "metric '%s' is declared twice", m[i].name);
    }
    if (i > WL_METRICS_MAX)
        fault(l, "has more than %d metrics, or they do not end with a NULL name", WL_METRICS_MAX);
}

int plugin_lint(const struct plugin *p, void (*report)(void *ctx, const char *line), void *ctx)
{
    struct lint l = {.plugin = p, .report = report, .ctx = ctx};
    lint_identity(&l);
    lint_functions(&l);
    lint_params(&l);
    lint_added(&l);
    lint_metrics(&l);
    return l.faults;
}
