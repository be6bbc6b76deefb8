/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/sweep.h"

#include "base/err.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/units.h"
#include "config/params.h"
#include "config/settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- labels ---- */

/* Do the two cells agree in this parameter? */
static bool same(const struct wl_param *p, const void *a, const void *b)
{
    return !memcmp((const char *)a + p->offset, (const char *)b + p->offset, param_size(p));
}

static bool speaks_for_itself(const struct wl_plugin *wl, const struct wl_param *of,
                              const char *value)
{
    if (of->type != WL_CHOICE)
        return !strcmp(of->name, "config");
    for (const struct wl_param *p = wl->params; p->name; p++)
        for (size_t i = 0; p != of && p->role == WL_CONFIG && i < params_choices(p); i++)
            if (!strcmp(p->choices[i], value))
                return false;
    return true;
}

char *sweep_label_config(const struct wl_plugin *wl, const void *defaults, const void *cell)
{
    const struct wl_param *first = NULL;
    struct text label = {0};
    char value[WL_TEXT_MAX];
    text_clear(&label);
    for (const struct wl_param *p = wl->params; p->name; p++) {
        if (p->role != WL_CONFIG)
            continue;
        first = first ? first : p;
        if (same(p, defaults, cell))
            continue;
        param_format(p, cell, value, sizeof value);
        text_add(&label, label.len ? "/" : "");
        if (!speaks_for_itself(wl, p, value))
            text_addf(&label, "%s=", p->name);
        text_add(&label, value);
    }
    if (!label.len) {
        if (first && first->type != WL_CHOICE && strcmp(first->name, "config") != 0)
            text_addf(&label, "%s=", first->name);
        text_add(&label, first ? param_format(first, defaults, value, sizeof value) : "default");
    }
    return label.s;
}

char *sweep_label_mode(const struct wl_plugin *wl, const void *cell)
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

/* Names all that config parameters take. */
static void explain_value(const struct wl_plugin *wl, const char *part, char *why, size_t n)
{
    AUTO_TEXT struct text all = {0};
    char allowed[512];
    for (const struct wl_param *p = wl->params; p->name; p++)
        if (p->role == WL_CONFIG)
            text_addf(&all, "%s%s: %s", all.len ? "; " : "", p->name,
                      param_allowed(p, allowed, sizeof allowed));
    snprintf(why, n, "'%s' is not a value of any config parameter (%s)", part,
             all.len ? all.s : "there is none");
}

bool sweep_label_parse(const struct wl_plugin *wl, const void *defaults, const char *label,
                       void *cell, char *why, size_t n)
{
    AUTO_FREE char *standard = sweep_label_config(wl, defaults, defaults);
    AUTO_FREE void *parsed = xcalloc(1, wl->cell_size);
    AUTO_WORDS struct words parts = {0};
    char what[512];
    *why = '\0';
    for (const struct wl_param *p = wl->params; p->name; p++)
        if (p->role == WL_CONFIG)
            memcpy((char *)cell + p->offset, (const char *)defaults + p->offset, param_size(p));
    if (strcmp(label, standard))
        words_split(&parts, label, '/');
    for (size_t i = 0; i < parts.n && !*why; i++) {
        char *part = parts.v[i], *equals = strchr(part, '=');
        const struct wl_param *found = NULL, *other = NULL;
        if (!*part) {
            snprintf(why, n, "'%s' has an empty part", label);
        } else if (equals) {
            *equals = '\0';
            found = params_find(wl->params, part);
            if (!found)
                snprintf(why, n, "'%s' is not a parameter%s", part,
                         DID_YOU_MEAN(params_nearest(wl->params, part)));
            else if (found->role != WL_CONFIG)
                snprintf(why, n, "'%s' is not a config parameter: give it a key of its own", part);
            else if (!param_parse(found, equals + 1, parsed, what, sizeof what))
                snprintf(why, n, "%s: %s", part, what);
        } else {
            /* A value alone belongs to the one parameter that takes it. Free text would take any. */
            bool only_defaults = true;
            for (const struct wl_param *p = wl->params; p->name; p++)
                if (p->role == WL_CONFIG && p->type != WL_TEXT &&
                    param_parse(p, part, parsed, what, sizeof what)) {
                    only_defaults = only_defaults && same(p, parsed, defaults);
                    other = found;
                    found = p;
                }
            if (!found && strcmp(part, "auto") != 0)
                explain_value(wl, part, why, n);
            else if (other && !only_defaults)
                snprintf(why, n, "'%s' may be %s or %s: write %s=%s", part, other->name,
                         found->name, other->name, part);
        }
        if (*why || !found || other)
            continue;
        if (!same(found, cell, defaults) && !same(found, cell, parsed))
            snprintf(why, n, "sets '%s' twice", found->name);
        memcpy((char *)cell + found->offset, (char *)parsed + found->offset, param_size(found));
    }
    return !*why;
}

/* ---- the values of a key ---- */

static void sweep_push(struct sweep_axis *axis, const void *member)
{
    size_t size = param_size(axis->p);
    axis->values = text_grown(axis->values, axis->n, size);
    memcpy(axis->values + axis->n++ * size, member, size);
}

/* Parameters are parsed into a struct at p->offset; here the member stands alone. */
static struct wl_param alone(const struct wl_param *p)
{
    struct wl_param q = *p;
    q.offset = 0;
    return q;
}

/* A long double holds whole numbers of 64 bits exactly. */
static long double number_of(const struct wl_param *p, const union member *v)
{
    return p->type == WL_INT    ? (long double)v->i
           : p->type == WL_SIZE ? (long double)v->u
                                : (long double)v->d;
}

static int read_range(struct sweep_axis *axis, const char *word)
{
    const struct config_entry *e = axis->from;
    struct wl_param p = alone(axis->p), unbounded = p;
    const bool whole = p.type == WL_INT || p.type == WL_SIZE;
    union member from = {0}, to = {0}, by = {0};
    double factor = 0;
    char why[1024] = "", digits[40];
    AUTO_WORDS struct words parts = {0};
    words_split(&parts, word, ':');
    unbounded.min = unbounded.max = 0; /* a step may be less than every value */
    const char *step = parts.n == 3 ? parts.v[2] : "";
    if (!(*step == 'x' && units_parse_real(step + 1, &factor) && factor < 1e15) &&
        !(*step == '+' && param_parse(&unbounded, step + 1, &by, why, sizeof why)))
        return config_error(e, "'%.80s' is not a range (FROM:TO:xFACTOR or FROM:TO:+STEP, e.g. %s)",
                            word, p.type == WL_SIZE ? "8:128MiB:x2" : "1:9:+2");
    if (!param_parse(&p, parts.v[0], &from, why, sizeof why) ||
        !param_parse(&p, parts.v[1], &to, why, sizeof why))
        return config_error(e, "%s", why);
    const long double first = number_of(&p, &from), last = number_of(&p, &to);
    const long double add = number_of(&p, &by);
    if (first > last)
        return config_error(e, "'%.80s' is an empty range (FROM at most TO)", word);
    if (*step == 'x' ? first <= 0 || factor <= 1 || (whole && factor != floor(factor)) : add <= 0)
        return config_error(e,
                            "'%.80s' never ends (FROM above 0 and a FACTOR above 1%s, or a STEP "
                            "above 0)",
                            word, whole ? ", whole" : "");
    long double v = first;
    for (int i = 1; v <= last && axis->n <= SWEEP_MAX; i++) {
        union member m = {0};
        if (p.type == WL_INT)
            m.i = (int64_t)v;
        else if (p.type == WL_SIZE)
            m.u = (uint64_t)v;
        else
            m.d = (double)v;
        sweep_push(axis, &m);
        v = *step == 'x' ? v * factor : first + i * add;
        if (!whole) { /* to 12 digits: 0.1:0.5:+0.1 has a 0.3, and ends at 0.5 */
            snprintf(digits, sizeof digits, "%.12Lg", v);
            v = strtod(digits, NULL);
        }
    }
    return GS_OK;
}

static int read_word(struct sweep_axis *axis, const char *word)
{
    struct wl_param p = alone(axis->p);
    union member v = {0};
    char why[1024], allowed[512];
    if (!*word && axis->p->type != WL_TEXT)
        return config_error(axis->from, "has an empty value (%s)",
                            param_allowed(&p, allowed, sizeof allowed));
    if (param_numeric(&p) && strchr(word, ':'))
        return read_range(axis, word);
    if (!param_parse(&p, word, &v, why, sizeof why))
        return config_error(axis->from, "%s", why);
    sweep_push(axis, &v);
    return GS_OK;
}

/* ---- the sweep ---- */

static int unknown_param(const struct config_entry *e, const struct wl_plugin *wl)
{
    for (const struct settings_section *t = settings_sections; t->name; t++)
        if (t->table && params_find(t->table, e->key))
            return config_error(e, "is not a parameter of %s: move it to [%s]", wl->name, t->name);
    const char *near = params_nearest(wl->params, e->key);
    if (near)
        return config_error(e, "is not a parameter of %s%s", wl->name, DID_YOU_MEAN(near));
    return config_error(e, "is not a parameter of %s; 'gradsync help %s' lists them", wl->name,
                        wl->name);
}

static int check_keys(const struct config *c, const char *section, const struct wl_plugin *wl)
{
    int code = GS_OK;
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        if (!strcmp(e->section, section) && !params_find(wl->params, e->key) &&
            strcmp(e->key, SWEEP_CONFIGS))
            code = unknown_param(e, wl);
    }
    return code;
}

static int read_axes(struct sweep *s, const struct config *c, const char *section)
{
    int code = GS_OK;
    for (size_t i = 0; i < s->n_axes; i++) {
        struct sweep_axis *axis = &s->axes[i];
        AUTO_WORDS struct words words = {0};
        *axis = (struct sweep_axis){.p = &s->wl->params[i], .dim = i};
        axis->from = config_find(c, section, axis->p->name);
        if (axis->from)
            words_split(&words, axis->from->value, ',');
        else
            sweep_push(axis, (const char *)s->defaults + axis->p->offset);
        int one = GS_OK;
        for (size_t k = 0; k < words.n; k++)
            if (read_word(axis, words.v[k]))
                one = GS_USAGE;
        if (!one && axis->n > SWEEP_MAX)
            one = config_error(axis->from, "more than %d values", SWEEP_MAX);
        code = one ? one : code;
    }
    return code;
}

/* `configs = auto, ring/LL128`: every WL_CONFIG axis takes one value a label, all in step. */
static int read_configs(struct sweep *s, const struct config_entry *e)
{
    AUTO_WORDS struct words labels = {0};
    AUTO_FREE void *cell = xcalloc(1, s->wl->cell_size);
    char why[1024];
    int code = GS_OK;
    size_t dim = s->n_axes;
    for (size_t i = s->n_axes; i-- > 0;)
        if (s->axes[i].p->role == WL_CONFIG) {
            dim = i;
            s->axes[i].n = 0;
            if (s->axes[i].from)
                code = config_error(s->axes[i].from, "is set by 'configs' too: remove one of them");
        }
    words_split(&labels, e->value, ',');
    for (size_t k = 0; k < labels.n; k++) {
        if (!*labels.v[k])
            code = config_error(e, "the list has an empty item");
        else if (!sweep_label_parse(s->wl, s->defaults, labels.v[k], cell, why, sizeof why))
            code = config_error(e, "'%s': %s", labels.v[k], why);
        for (size_t i = dim; i < s->n_axes; i++)
            if (s->axes[i].p->role == WL_CONFIG) {
                sweep_push(&s->axes[i], (const char *)cell + s->axes[i].p->offset);
                s->axes[i].dim = dim;
            }
    }
    return code;
}

/* Texts become names of configs, in tables, figures and pages: the readers of recordings refuse others.
 * The ranks read them from the recorded config, so none can be hidden there. */
static int check_texts(const struct sweep_axis *axis, const struct config_entry *from)
{
    for (size_t i = 0; axis->p->type == WL_TEXT && from && i < axis->n; i++) {
        const char *value = (const char *)axis->values + i * param_size(axis->p);
        char *end;
        strtod(value, &end); /* a number, such as a count of tokens, is no secret */
        if (*value && (end == value || strlen(end) > 1) &&
            secrets_name(axis->p->name, strlen(axis->p->name)))
            return config_error(
                from,
                "%s: its name is that of a secret, and recordings hold every "
                "parameter: give the plugin a file or a variable of the environment",
                axis->p->name);
        if (!printable_label(value))
            return config_error(from, "'%s' cannot be recorded (%s)", value, PRINTABLE_LABEL_RULE);
    }
    return GS_OK;
}

static int size_product(struct sweep *s, const struct config *c, const char *section)
{
    size_t total = 1;
    for (size_t d = 0; d < s->n_axes; d++)
        s->lengths[d] = 1;
    for (size_t i = 0; i < s->n_axes; i++)
        s->lengths[s->axes[i].dim] = s->axes[i].n;
    for (size_t d = s->n_axes; d-- > 0;) {
        s->strides[d] = total;
        if (s->lengths[d] > SWEEP_MAX / total)
            return fail_at(GS_USAGE, c->path, config_section(c, section)->line,
                           "[%s] has more than %d cells; shorten a list or split the section",
                           section, SWEEP_MAX);
        total *= s->lengths[d];
    }
    return GS_OK;
}

int sweep_read(struct sweep *s, const struct config *c, const char *section,
               const struct wl_plugin *wl)
{
    char why[1024];
    *s = (struct sweep){.wl = wl, .n_axes = params_count(wl->params)};
    s->defaults = xcalloc(1, wl->cell_size);
    s->axes = xcalloc(s->n_axes, sizeof *s->axes);
    s->lengths = xcalloc(s->n_axes, sizeof *s->lengths);
    s->strides = xcalloc(s->n_axes, sizeof *s->strides);
    if (!params_default(wl->params, s->defaults, why, sizeof why)) {
        s->n_axes = 0;
        return fail(GS_USAGE, "plugin %s: %s", wl->name, why);
    }
    /* An empty value undoes the key: --set 'X:configs=' */
    const struct config_entry *configs = config_find(c, section, SWEEP_CONFIGS);
    int keys = check_keys(c, section, wl), axes = read_axes(s, c, section);
    int labels = configs && *configs->value ? read_configs(s, configs) : GS_OK;
    int code = keys || axes || labels ? GS_USAGE : GS_OK;
    for (size_t i = 0; !code && i < s->n_axes; i++)
        code = check_texts(&s->axes[i], s->axes[i].from ? s->axes[i].from : configs);
    return code ? code : size_product(s, c, section);
}

void sweep_free(struct sweep *s)
{
    for (size_t i = 0; i < s->n_axes; i++)
        free(s->axes[i].values);
    free(s->axes);
    free(s->lengths);
    free(s->strides);
    free(s->defaults);
    *s = (struct sweep){0};
}

size_t sweep_count(const struct sweep *s)
{
    size_t total = 1;
    for (size_t d = 0; d < s->n_axes; d++)
        total *= s->lengths[d];
    return total;
}

void sweep_cell(const struct sweep *s, size_t i, void *cell)
{
    memset(cell, 0, s->wl->cell_size);
    for (size_t k = 0; k < s->n_axes; k++) {
        const struct sweep_axis *axis = &s->axes[k];
        size_t size = param_size(axis->p), at = i / s->strides[axis->dim] % s->lengths[axis->dim];
        memcpy((char *)cell + axis->p->offset, axis->values + at * size, size);
    }
}
