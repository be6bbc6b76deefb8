/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/label.h"

#include "base/text.h"
#include "config/params.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Do the two cells agree in this parameter? */
static bool same(const struct wl_param *p, const void *a, const void *b)
{
    return !memcmp((const char *)a + p->offset, (const char *)b + p->offset, param_size(p));
}

static void copy(const struct wl_param *p, const void *from, void *to)
{
    memcpy((char *)to + p->offset, (const char *)from + p->offset, param_size(p));
}

/* ---- writing ---- */

static bool has_choice(const struct wl_param *p, const char *name)
{
    for (size_t i = 0; i < params_choices(p); i++)
        if (!strcmp(p->choices[i], name))
            return true;
    return false;
}

static bool speaks_for_itself(const struct wl_plugin *wl, const struct wl_param *of,
                              const char *value)
{
    if (!strcmp(of->name, "config"))
        return true;
    if (of->type != WL_CHOICE)
        return false;
    for (const struct wl_param *p = wl->params; p->name; p++)
        if (p != of && p->role == WL_CONFIG && has_choice(p, value))
            return false;
    return true;
}

static const struct wl_param *first_of(const struct wl_plugin *wl, enum wl_role role)
{
    const struct wl_param *p = wl->params;
    while (p->name && p->role != role)
        p++;
    return p->name ? p : NULL;
}

static void add_default(struct text *label, const struct wl_plugin *wl, const void *defaults)
{
    const struct wl_param *first = first_of(wl, WL_CONFIG);
    char value[WL_TEXT_MAX];
    if (first && first->type != WL_CHOICE && strcmp(first->name, "config") != 0)
        text_addf(label, "%s=", first->name);
    text_add(label, first ? param_format(first, defaults, value, sizeof value) : "default");
}

char *label_config(const struct wl_plugin *wl, const void *defaults, const void *cell)
{
    struct text label = {0};
    char value[WL_TEXT_MAX];
    text_clear(&label);
    for (const struct wl_param *p = wl->params; p->name; p++) {
        if (p->role != WL_CONFIG || same(p, defaults, cell))
            continue;
        param_format(p, cell, value, sizeof value);
        text_add(&label, label.len ? "/" : "");
        if (!speaks_for_itself(wl, p, value))
            text_addf(&label, "%s=", p->name);
        text_add(&label, value);
    }
    if (!label.len)
        add_default(&label, wl, defaults);
    return label.s;
}

char *label_mode(const struct wl_plugin *wl, const void *cell)
{
    struct text mode = {0};
    char value[WL_TEXT_MAX];
    text_clear(&mode);
    for (const struct wl_param *p = wl->params; p->name; p++)
        if (p->role == WL_MODE) {
            text_add(&mode, mode.len ? "/" : "");
            text_add(&mode, param_format(p, cell, value, sizeof value));
        }
    return mode.s;
}

/* ---- reading ---- */

struct reader {
    const struct wl_plugin *wl;
    const void *defaults;
    void *cell;
    void *scratch; /* a cell struct */
    char *why;
    size_t n;
};

__attribute__((format(printf, 2, 3))) static bool wrong(struct reader *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->why, r->n, fmt, args);
    va_end(args);
    return false;
}

static bool take(struct reader *r, const struct wl_param *p)
{
    if (!same(p, r->cell, r->defaults) && !same(p, r->cell, r->scratch))
        return wrong(r, "sets '%s' twice", p->name);
    copy(p, r->scratch, r->cell);
    return true;
}

static bool key_value(struct reader *r, char *part, char *equals)
{
    char what[512];
    *equals = '\0';
    const struct wl_param *p = params_find(r->wl->params, part);
    const char *near = params_nearest(r->wl->params, part);
    if (!p)
        return wrong(r, "'%s' is not a parameter%s", part, DID_YOU_MEAN(near));
    if (p->role != WL_CONFIG)
        return wrong(r, "'%s' is not a config parameter: give it a key of its own", part);
    if (!param_parse(p, equals + 1, r->scratch, what, sizeof what))
        return wrong(r, "%s: %s", part, what);
    return take(r, p);
}

/* All that config parameters take, for a message; *near is the choice nearest to `part`. */
static void list_values(const struct reader *r, const char *part, struct text *all,
                        const char **near)
{
    const char *names[256];
    char allowed[512];
    size_t n = 0;
    for (const struct wl_param *p = r->wl->params; p->name; p++) {
        if (p->role != WL_CONFIG)
            continue;
        text_addf(all, "%s%s: %s", all->len ? "; " : "", p->name,
                  param_allowed(p, allowed, sizeof allowed));
        for (size_t i = 0; i < params_choices(p) && n < 256; i++)
            names[n++] = p->choices[i];
    }
    *near = text_nearest(part, names, n);
}

static bool no_value(struct reader *r, const char *part)
{
    AUTO_TEXT struct text all = {0};
    const char *near;
    list_values(r, part, &all, &near);
    text_add(&all, "");
    wrong(r, "'%s' is not a value of any config parameter (%s)%s", part,
          all.len ? all.s : "there is none", DID_YOU_MEAN(near));
    return false;
}

/* A value alone belongs to the one config parameter that takes it. Free text would take any. */
static bool bare_value(struct reader *r, const char *part)
{
    const struct wl_param *found = NULL, *other = NULL;
    bool only_defaults = true;
    char what[512];
    for (const struct wl_param *p = r->wl->params; p->name; p++) {
        if (p->role != WL_CONFIG || p->type == WL_TEXT ||
            !param_parse(p, part, r->scratch, what, sizeof what))
            continue;
        only_defaults = only_defaults && same(p, r->scratch, r->defaults);
        other = found;
        found = p;
    }
    if (!found)
        return !strcmp(part, "auto") || no_value(r, part);
    if (other && !only_defaults)
        return wrong(r, "'%s' may be %s or %s: write %s=%s", part, other->name, found->name,
                     other->name, part);
    return other || take(r, found);
}

bool label_parse(const struct wl_plugin *wl, const void *defaults, const char *label, void *cell,
                 char *why, size_t n)
{
    struct reader r = {wl, defaults, cell, xcalloc(1, wl->cell_size), why, n};
    AUTO_FREE char *standard = label_config(wl, defaults, defaults);
    AUTO_WORDS struct words parts = {0};
    bool good = true;
    for (const struct wl_param *p = wl->params; p->name; p++)
        if (p->role == WL_CONFIG)
            copy(p, defaults, cell);
    if (strcmp(label, standard))
        words_split(&parts, label, '/');
    for (size_t i = 0; i < parts.n && good; i++) {
        char *equals = strchr(parts.v[i], '=');
        if (!*parts.v[i])
            good = wrong(&r, "'%s' has an empty part", label);
        else
            good = equals ? key_value(&r, parts.v[i], equals) : bare_value(&r, parts.v[i]);
    }
    free(r.scratch);
    return good;
}
