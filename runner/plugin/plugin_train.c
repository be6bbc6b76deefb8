/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/plugin_train.h"

#include "base/err.h"
#include "base/secrets.h"
#include "base/text.h"
#include "config/params.h"
#include "config/train_settings.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 32 /* as of other plugins' parameters */
#define DIGITS "0123456789"
/* Config keys do not keep lower-case letters beside capitals. */
#define VARIABLE_WAY                                                                               \
    "set an environment variable whose name is not all capitals, or is long, in the command: "     \
    "env NAME={key} or mpirun -x NAME={key}"

static const char *const given[] = {"launch", "nodes", "ranks"};

struct reader {
    const struct config *c;
    const char *section;
    struct plugin *p;
    struct words axes;
    const struct config_entry *from; /* the text that is being searched for placeholders */
    bool *used;                      /* of each parameter */
    int code;
};

static enum wl_status describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t why_size)
{
    (void)cell, (void)job, (void)shape, (void)why, (void)why_size;
    return WL_OK;
}

/* ---- parameters ---- */

static bool is_whole(const char *s)
{
    size_t n = strspn(s, DIGITS);
    return n && n < 18 && !s[n] && (n == 1 || *s != '0');
}

/* "8:64:x2" and "1:9:+2". */
static bool is_range(const char *s)
{
    const char *first = strchr(s, ':'), *last = strrchr(s, ':');
    return first && first != last && strspn(s, DIGITS ":") == (size_t)(last + 1 - s) &&
           (last[1] == 'x' || last[1] == '+');
}

/* Numbers that are written in another way, such as 1e-4, must reach the command as they are. */
static enum wl_type type_of(const struct words *values)
{
    for (size_t i = 0; i < values->n; i++)
        if (!is_whole(values->v[i]) && !is_range(values->v[i]))
            return WL_TEXT;
    return WL_INT;
}

static const char *keep(struct reader *r, const char *text, size_t n)
{
    words_addf(&r->p->texts, "%.*s", (int)n, text);
    return r->p->texts.v[r->p->texts.n - 1];
}

static void check_values(struct reader *r, const struct config_entry *e, const struct words *values)
{
    for (size_t i = 0; i < values->n; i++)
        if (strlen(values->v[i]) >= WL_TEXT_MAX)
            r->code = config_error(e, "'%.40s...' has more than %d bytes; put it into a script",
                                   values->v[i], WL_TEXT_MAX - 1);
}

static void add_param(struct reader *r, const struct config_entry *e)
{
    AUTO_WORDS struct words values = {0};
    words_split(&values, e->value, ',');
    check_values(r, e, &values);
    const char *first = values.n ? values.v[0] : "";
    enum wl_type type = type_of(&values);
    bool fixed = values.n < 2 && !(type == WL_INT && is_range(first));
    size_t n = params_count(r->p->params);
    r->p->params[n] = (struct wl_param){
        .name = keep(r, e->key, strlen(e->key)),
        .type = type,
        .role = fixed || words_has(&r->axes, e->key) ? WL_AXIS : WL_CONFIG,
        .offset = n * WL_TEXT_MAX,
        .def = keep(r, first, type == WL_INT ? strspn(first, DIGITS) : strlen(first)),
        .help = "a key of [train]"};
}

static bool is_setting(const char *key)
{
    return params_find(train_keys, key) || !strcmp(key, "zip") || !strcmp(key, "exclude");
}

static int check_key(const struct config_entry *e)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "_";
    if (!strcmp(e->key, "configs"))
        return config_error(e, "is not for [train]; give each key its list, and 'zip' the lists");
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (!strcmp(given[i], e->key))
            return config_error(e, "gradsync sets {%s} itself; use another name", e->key);
    if (e->key[strspn(e->key, letters)])
        return config_error(e, "must be of letters, digits and '_'");
    if (strlen(e->key) > NAME_MAX_LEN)
        return config_error(e, "has %zu characters, and at most %d are allowed; " VARIABLE_WAY,
                            strlen(e->key), NAME_MAX_LEN);
    if (train_is_variable(e->key) && secrets_name(e->key, strlen(e->key)))
        return config_error(e, "would be recorded, and its name is that of a secret; set it in the "
                               "shell, the command inherits it");
    return GS_OK;
}

static void read_params(struct reader *r)
{
    r->p->params = xcalloc(r->c->n + 1, sizeof *r->p->params);
    for (size_t i = 0; i < r->c->n; i++) {
        const struct config_entry *e = &r->c->entries[i];
        if (strcmp(e->section, r->section) || is_setting(e->key))
            continue;
        int code = check_key(e);
        if (code)
            r->code = code;
        else
            add_param(r, e);
    }
}

static void read_axes(struct reader *r)
{
    const struct config_entry *e = config_find(r->c, r->section, "axes");
    if (e && *e->value)
        words_split(&r->axes, e->value, ',');
}

static void check_axes(struct reader *r)
{
    for (size_t i = 0; i < r->axes.n; i++) {
        const char *near = params_nearest(r->p->params, r->axes.v[i]);
        if (!params_find(r->p->params, r->axes.v[i]))
            r->code =
                config_error(config_find(r->c, r->section, "axes"), "'%s' is not a key of [%s]%s",
                             r->axes.v[i], r->section, DID_YOU_MEAN(near));
    }
}

/* ---- placeholders ---- */

static const char *see(void *ctx, const char *name)
{
    struct reader *r = ctx;
    const struct wl_param *p = params_find(r->p->params, name);
    const char *near = params_nearest(r->p->params, name);
    bool known = p;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        known = known || !strcmp(given[i], name);
    if (p)
        r->used[p - r->p->params] = true;
    if (!known)
        r->code = config_error(r->from,
                               "{%s} has no values: add a line '%s = ...', or write '{{' for a "
                               "brace%s",
                               name, name, DID_YOU_MEAN(near));
    return NULL;
}

static void find_placeholders(struct reader *r, const struct config_entry *e)
{
    r->from = e;
    if (e)
        free(train_fill(e->value, see, r));
}

static void check_placeholders(struct reader *r, const struct train_settings *s)
{
    r->used = xcalloc(params_count(r->p->params) + 1, sizeof *r->used);
    find_placeholders(r, s->command);
    find_placeholders(r, s->file);
    for (size_t i = 0; r->p->params[i].name; i++) {
        const char *name = r->p->params[i].name;
        if (!r->used[i] && !train_is_variable(name) && s->command && !r->code)
            r->code = config_error(
                config_find(r->c, r->section, name),
                "changes nothing: the command has no {%s}; write it there, or " VARIABLE_WAY, name);
    }
    free(r->used);
}

int plugin_train(struct plugin **out, const struct config *c, const char *section)
{
    static const struct wl_metric metrics[] = {
        {"time", "s", "time of a step, as the command reports it", WL_MAX}, {0}};
    struct reader r = {.c = c, .section = section, .p = xcalloc(1, sizeof *r.p)};
    struct train_settings set;
    r.p->path = xstrdup(c->path);
    r.code = train_settings_read(&set, c, section);
    read_axes(&r);
    read_params(&r);
    check_axes(&r);
    check_placeholders(&r, &set);
    words_free(&r.axes);
    r.p->wl = (struct wl_plugin){.size = sizeof r.p->wl,
                                 .name = TRAIN_WORKLOAD,
                                 .version = "1",
                                 .summary = "the user's own training command",
                                 .params = r.p->params,
                                 .cell_size = (params_count(r.p->params) + 1) * WL_TEXT_MAX,
                                 .metrics = metrics,
                                 .describe = describe};
    if (r.code) {
        plugin_unload(r.p);
        r.p = NULL;
    }
    *out = r.p;
    return r.code;
}
