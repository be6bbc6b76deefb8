/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/sweep.h"

#include "base/err.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/units.h"
#include "config/params.h"
#include "config/settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- labels ---- */

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

char *sweep_label_config(const struct wl_plugin *wl, const void *defaults, const void *cell)
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

/* Names all that config parameters take, and the choice nearest to `part`. */
static bool no_value(struct reader *r, const char *part)
{
    AUTO_TEXT struct text all = {0};
    const char *names[256];
    char allowed[512];
    size_t n = 0;
    for (const struct wl_param *p = r->wl->params; p->name; p++) {
        if (p->role != WL_CONFIG)
            continue;
        text_addf(&all, "%s%s: %s", all.len ? "; " : "", p->name,
                  param_allowed(p, allowed, sizeof allowed));
        for (size_t i = 0; i < params_choices(p) && n < 256; i++)
            names[n++] = p->choices[i];
    }
    const char *near = text_nearest(part, names, n);
    return wrong(r, "'%s' is not a value of any config parameter (%s)%s", part,
                 all.len ? all.s : "there is none", DID_YOU_MEAN(near));
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

bool sweep_label_parse(const struct wl_plugin *wl, const void *defaults, const char *label,
                       void *cell, char *why, size_t n)
{
    struct reader r = {wl, defaults, cell, xcalloc(1, wl->cell_size), why, n};
    AUTO_FREE char *standard = sweep_label_config(wl, defaults, defaults);
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

/* ---- the values of a key ---- */

static void sweep_push(struct sweep_axis *axis, const void *member)
{
    size_t size = param_size(axis->p);
    if ((axis->n & (axis->n - 1)) == 0)
        axis->values = xrealloc(axis->values, (axis->n ? 2 * axis->n : 1) * size);
    memcpy(axis->values + axis->n++ * size, member, size);
}

/* ---- ranges ---- */

/* Parameters are parsed into a struct at p->offset; here the member stands alone. */
static struct wl_param alone(const struct wl_param *p)
{
    struct wl_param q = *p;
    q.offset = 0;
    return q;
}

struct range {
    union member from, to, step; /* step: of the parameter's type behind '+', real behind 'x' */
    bool times;
};

/* Moves *v one step; false past the end. Whole numbers stay exact, and may not wrap around. */
static bool step_int(const struct range *r, size_t i, union member *v)
{
    (void)i;
    return (r->times ? !__builtin_mul_overflow(v->i, (int64_t)r->step.d, &v->i)
                     : !__builtin_add_overflow(v->i, r->step.i, &v->i)) &&
           v->i <= r->to.i;
}

static bool step_size(const struct range *r, size_t i, union member *v)
{
    (void)i;
    return (r->times ? !__builtin_mul_overflow(v->u, (uint64_t)r->step.d, &v->u)
                     : !__builtin_add_overflow(v->u, r->step.u, &v->u)) &&
           v->u <= r->to.u;
}

/* From the start each time, and to 12 digits: 0.1:0.5:+0.1 has a 0.3, and ends at 0.5. */
static bool step_real(const struct range *r, size_t i, union member *v)
{
    char digits[40];
    double x = r->times ? v->d * r->step.d : r->from.d + (double)i * r->step.d;
    snprintf(digits, sizeof digits, "%.12g", x);
    v->d = strtod(digits, NULL);
    return v->d <= r->to.d;
}

static bool empty(const struct wl_param *p, const struct range *r)
{
    return p->type == WL_INT    ? r->from.i > r->to.i
           : p->type == WL_SIZE ? r->from.u > r->to.u
                                : r->from.d > r->to.d;
}

/* Does a step get anywhere from the start? */
static bool advances(const struct wl_param *p, const struct range *r)
{
    union member v = r->from;
    if (r->times)
        return r->step.d > 1 &&
               (p->type == WL_INT    ? v.i > 0 && r->step.d == (double)(int64_t)r->step.d
                : p->type == WL_SIZE ? v.u > 0 && r->step.d == (double)(int64_t)r->step.d
                                     : v.d > 0);
    return p->type == WL_INT ? r->step.i > 0 : p->type == WL_SIZE ? r->step.u > 0 : r->step.d > 0;
}

static bool parse_step(const struct wl_param *p, const char *text, struct range *r)
{
    char why[512];
    struct wl_param free_of_bounds = alone(p);
    free_of_bounds.min = free_of_bounds.max = 0;
    r->times = *text == 'x';
    if (r->times)
        return units_parse_real(text + 1, &r->step.d) && r->step.d < 1e15;
    return *text == '+' && param_parse(&free_of_bounds, text + 1, &r->step, why, sizeof why);
}

static int read_range(struct sweep_axis *axis, const char *word)
{
    const struct config_entry *e = axis->from;
    struct wl_param p = alone(axis->p);
    struct range r = {0};
    char why[1024] = "";
    AUTO_WORDS struct words parts = {0};
    words_split(&parts, word, ':');
    bool form = parts.n == 3 && parse_step(&p, parts.v[2], &r);
    bool ends = form && param_parse(&p, parts.v[0], &r.from, why, sizeof why) &&
                param_parse(&p, parts.v[1], &r.to, why, sizeof why);
    if (!form)
        return config_error(e, "'%.80s' is not a range (FROM:TO:xFACTOR or FROM:TO:+STEP, e.g. %s)",
                            word, p.type == WL_SIZE ? "8:128MiB:x2" : "1:9:+2");
    if (!ends)
        return config_error(e, "%s", why);
    if (empty(&p, &r))
        return config_error(e, "'%.80s' is an empty range (FROM at most TO)", word);
    if (!advances(&p, &r))
        return config_error(e,
                            "'%.80s' never ends (FROM above 0 and a FACTOR above 1%s, or a STEP "
                            "above 0)",
                            word, p.type == WL_INT || p.type == WL_SIZE ? ", whole" : "");
    bool (*step)(const struct range *, size_t, union member *) = p.type == WL_INT    ? step_int
                                                                 : p.type == WL_SIZE ? step_size
                                                                                     : step_real;
    union member v = r.from;
    size_t i = 0;
    do {
        sweep_push(axis, &v);
    } while (axis->n <= SWEEP_MAX && step(&r, ++i, &v));
    return GS_OK;
}

/* ---- lists ---- */

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

/* Fills axis->values and n from axis->from. GS_OK or GS_USAGE, reported. */
static int sweep_list(struct sweep_axis *axis)
{
    AUTO_WORDS struct words words = {0};
    int code = GS_OK;
    words_split(&words, axis->from->value, ',');
    for (size_t i = 0; i < words.n; i++)
        if (read_word(axis, words.v[i]))
            code = GS_USAGE;
    if (!code && axis->n > SWEEP_MAX)
        code = config_error(axis->from, "more than %d values", SWEEP_MAX);
    return code;
}

/* ---- exclude ---- */

static int read_term(struct sweep_term *term, const struct wl_param *params,
                     const struct config_entry *e, char *text)
{
    char *equals = strchr(text, '='), why[1024];
    if (!equals)
        return config_error(e, "'%s' is not of the form PARAMETER=VALUE", text);
    *equals = '\0';
    term->p = params_find(params, text);
    const char *near = params_nearest(params, text);
    if (!term->p)
        return config_error(e, "'%s' is not a parameter%s", text, DID_YOU_MEAN(near));
    struct wl_param alone = *term->p;
    alone.offset = 0;
    term->value = xcalloc(1, param_size(&alone));
    return param_parse(&alone, equals + 1, term->value, why, sizeof why)
               ? GS_OK
               : config_error(e, "%s: %s", text, why);
}

static int read_clause(struct sweep_excludes *x, const struct wl_param *params,
                       const struct config_entry *e, const char *text)
{
    AUTO_WORDS struct words terms = {0};
    int code = GS_OK;
    struct sweep_clause *clause = &APPEND(x->v, x->n);
    words_split(&terms, text, ' ');
    *clause = (struct sweep_clause){.terms = xcalloc(terms.n, sizeof *clause->terms)};
    for (size_t i = 0; i < terms.n; i++)
        if (*terms.v[i] && read_term(&clause->terms[clause->n++], params, e, terms.v[i]))
            code = GS_USAGE;
    return clause->n ? code : config_error(e, "a clause is empty (write PARAMETER=VALUE …, …)");
}

/* GS_OK or GS_USAGE, every fault reported; call sweep_free_excludes in both cases. */
static int sweep_read_excludes(struct sweep_excludes *x, const struct wl_param *params,
                               const struct config_entry *e)
{
    AUTO_FREE char *value = xstrdup(e->value);
    AUTO_WORDS struct words clauses = {0};
    int code = GS_OK;
    for (char *p = value; (p = strchr(p, ',')); p++)
        *p = ';';
    words_split(&clauses, value, ';');
    for (size_t i = 0; i < clauses.n; i++)
        if (read_clause(x, params, e, clauses.v[i]))
            code = GS_USAGE;
    return code;
}

static void sweep_free_excludes(struct sweep_excludes *x)
{
    for (size_t k = 0; k < x->n; k++) {
        for (size_t i = 0; i < x->v[k].n; i++)
            free(x->v[k].terms[i].value);
        free(x->v[k].terms);
    }
    free(x->v);
}

/* ---- the sweep ---- */

static const struct config_entry *given(const struct config *c, const char *section,
                                        const char *key)
{
    const struct config_entry *e = config_find(c, section, key);
    return e && e->value[0] ? e : NULL; /* an empty one undoes it: --set 'X:exclude=' */
}

static struct sweep_axis *find_axis(const struct sweep *s, const char *name)
{
    for (size_t i = 0; i < s->n_axes; i++)
        if (!strcmp(s->axes[i].p->name, name))
            return &s->axes[i];
    return NULL;
}

/* ---- keys ---- */

static int unknown_param(const struct config_entry *e, const struct wl_plugin *wl)
{
    for (const struct settings_section *t = settings_sections; t->name; t++)
        if (t->table && params_find(t->table, e->key))
            return config_error(e, "is not a parameter of %s: move it to [%s]", wl->name, t->name);
    const char *near = params_nearest(wl->params, e->key);
    if (!near)
        near = text_nearest(e->key, sweep_keys, SWEEP_KEYS);
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
        bool known = strcmp(e->section, section) || params_find(wl->params, e->key);
        for (size_t k = 0; k < SWEEP_KEYS; k++)
            known = known || !strcmp(sweep_keys[k], e->key);
        if (!known)
            code = unknown_param(e, wl);
    }
    return code;
}

/* ---- axes ---- */

static int read_axes(struct sweep *s, const struct config *c, const char *section)
{
    int code = GS_OK;
    for (size_t i = 0; i < s->n_axes; i++) {
        struct sweep_axis *axis = &s->axes[i];
        *axis = (struct sweep_axis){.p = &s->wl->params[i], .dim = i};
        axis->from = config_find(c, section, axis->p->name);
        if (!axis->from)
            sweep_push(axis, (const char *)s->defaults + axis->p->offset);
        else if (sweep_list(axis))
            code = GS_USAGE;
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

/* ---- zip ---- */

static int read_zip(struct sweep *s, const struct config_entry *e, const char *names)
{
    AUTO_WORDS struct words words = {0};
    struct sweep_axis *first = NULL;
    int code = GS_OK;
    words_split(&words, names, ',');
    for (size_t i = 0; i < words.n && !code; i++) {
        struct sweep_axis *axis = find_axis(s, words.v[i]);
        const char *near = params_nearest(s->wl->params, words.v[i]);
        if (!axis)
            code = config_error(e, "'%s' is not a parameter%s", words.v[i], DID_YOU_MEAN(near));
        else if (!axis->from || axis->dim != (size_t)(axis - s->axes) || axis == first)
            code = config_error(e, "'%s' is %s", words.v[i],
                                axis->from ? "zipped already" : "not set in this section");
        else if (first)
            code = axis->n == first->n
                       ? GS_OK
                       : config_error(e, "'%s' has %zu values and '%s' has %zu (equal numbers)",
                                      first->p->name, first->n, axis->p->name, axis->n);
        else
            first = axis;
        if (first && !code)
            axis->dim = first->dim;
    }
    if (!code && words.n < 2)
        code = config_error(e, "'%s' is one parameter; name two or more: size, buckets", names);
    return code;
}

static int read_zips(struct sweep *s, const struct config_entry *e)
{
    AUTO_WORDS struct words zips = {0};
    int code = GS_OK;
    words_split(&zips, e->value, ';');
    for (size_t i = 0; i < zips.n; i++)
        if (read_zip(s, e, zips.v[i]))
            code = GS_USAGE;
    return code;
}

/* ---- the product ---- */

static int compare_members(const void *a, const void *b, void *size)
{
    return memcmp(a, b, *(const size_t *)size);
}

/* A value that stands twice on an axis of its own would be the same cell twice. */
static int check_twins(const struct sweep_axis *axis)
{
    if (axis->n < 2)
        return GS_OK;
    size_t size = param_size(axis->p);
    AUTO_FREE unsigned char *v = xmalloc(axis->n * size);
    struct wl_param p = *axis->p;
    char value[WL_TEXT_MAX];
    int code = GS_OK;
    p.offset = 0;
    memcpy(v, axis->values, axis->n * size);
    qsort_r(v, axis->n, size, compare_members, &size);
    for (size_t i = 1; i < axis->n && !code; i++)
        if (!memcmp(v + (i - 1) * size, v + i * size, size))
            code = config_error(axis->from, "the value '%s' is listed twice",
                                param_format(&p, v + i * size, value, sizeof value));
    return code;
}

/* By the name of its parameter; a number, such as a count of tokens, is none. */
static bool is_secret(const struct wl_param *p, const char *value)
{
    char *end;
    strtod(value, &end);
    return *value && (end == value || strlen(end) > 1) && secrets_name(p->name, strlen(p->name));
}

/* Texts become names of configs, in tables, figures and pages: the readers of recordings refuse others.
 * The ranks read them from the recorded config, so none can be hidden there. */
static int check_texts(const struct sweep_axis *axis, const struct config_entry *from)
{
    for (size_t i = 0; axis->p->type == WL_TEXT && from && i < axis->n; i++) {
        const char *value = (const char *)axis->values + i * param_size(axis->p);
        if (is_secret(axis->p, value))
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

static int check_axes(const struct sweep *s, const struct config_entry *configs)
{
    int code = GS_OK;
    AUTO_FREE size_t *members = xcalloc(s->n_axes, sizeof *members);
    for (size_t i = 0; i < s->n_axes; i++) {
        if (check_texts(&s->axes[i], s->axes[i].from ? s->axes[i].from : configs))
            code = GS_USAGE;
        members[s->axes[i].dim]++;
    }
    for (size_t i = 0; i < s->n_axes; i++)
        if (members[s->axes[i].dim] == 1 && s->axes[i].from && check_twins(&s->axes[i]))
            code = GS_USAGE;
    return code;
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
    const struct config_entry *configs = given(c, section, "configs");
    const struct config_entry *zip = given(c, section, "zip");
    const struct config_entry *exclude = given(c, section, "exclude");
    int keys = check_keys(c, section, wl), axes = read_axes(s, c, section);
    int labels = configs ? read_configs(s, configs) : GS_OK;
    int excludes = exclude ? sweep_read_excludes(&s->excludes, wl->params, exclude) : GS_OK;
    int code = keys || axes || labels || excludes ? GS_USAGE : GS_OK;
    if (!code && zip)
        code = read_zips(s, zip);
    TRY(code, check_axes(s, configs));
    return code ? code : size_product(s, c, section);
}

void sweep_free(struct sweep *s)
{
    for (size_t i = 0; i < s->n_axes; i++)
        free(s->axes[i].values);
    sweep_free_excludes(&s->excludes);
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

bool sweep_cell(const struct sweep *s, size_t i, void *cell)
{
    memset(cell, 0, s->wl->cell_size);
    for (size_t k = 0; k < s->n_axes; k++) {
        const struct sweep_axis *axis = &s->axes[k];
        size_t size = param_size(axis->p), at = i / s->strides[axis->dim] % s->lengths[axis->dim];
        memcpy((char *)cell + axis->p->offset, axis->values + at * size, size);
    }
    for (size_t k = 0; k < s->excludes.n; k++) {
        const struct sweep_clause *clause = &s->excludes.v[k];
        bool all = true;
        for (size_t t = 0; t < clause->n && all; t++) {
            const struct wl_param *p = clause->terms[t].p;
            all = !memcmp((const char *)cell + p->offset, clause->terms[t].value, param_size(p));
        }
        if (all)
            return false;
    }
    return true;
}
