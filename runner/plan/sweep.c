/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/sweep.h"

#include "base/err.h"
#include "base/printable.h"
#include "base/secrets.h"
#include "base/text.h"
#include "config/params.h"
#include "config/settings.h"
#include "config/train_settings.h"
#include "plan/label.h"

#include <stdlib.h>
#include <string.h>

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
        known = known || (train_is_section(section) && params_find(train_keys, e->key));
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
        else if (!label_parse(s->wl, s->defaults, labels.v[k], cell, why, sizeof why))
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

static int zip_two(const struct config_entry *e, struct sweep_axis *first, struct sweep_axis *axis)
{
    if (axis->n != first->n)
        return config_error(e, "'%s' has %zu values and '%s' has %zu (equal numbers)",
                            first->p->name, first->n, axis->p->name, axis->n);
    axis->dim = first->dim;
    return GS_OK;
}

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
            code = zip_two(e, first, axis);
        else
            first = axis;
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
    if (!code)
        code = check_axes(s, configs);
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
    return !sweep_excluded(&s->excludes, cell);
}
