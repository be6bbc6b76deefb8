/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan_cells.h"

#include "base/err.h"
#include "base/secrets.h"
#include "base/sha256.h"
#include "base/text.h"
#include "config/params.h"
#include "plan/label.h"
#include "plan/plan_groups.h"
#include "plan/sweep.h"

#include <stdlib.h>
#include <string.h>

#define WHYS_MAX 8 /* different reasons of describe() that are reported */

/* What is needed while cells are made. */
struct builder {
    struct plan *p;
    struct sweep sweep;
    struct wl_job job;
    char *head;                     /* of every cell's canonical text */
    const struct wl_param **sorted; /* by name */
    size_t n_sorted;
    struct draft *drafts;
    size_t n, cap;
    char *whys[WHYS_MAX];
    size_t n_whys;
};

/* ---- ids ---- */

static int by_name(const void *a, const void *b)
{
    const struct wl_param *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static void sort_params(struct builder *b)
{
    const struct wl_plugin *wl = &b->p->plugin->wl;
    b->n_sorted = params_count(wl->params);
    b->sorted = xcalloc(b->n_sorted, sizeof *b->sorted);
    for (size_t i = 0; i < b->n_sorted; i++)
        b->sorted[i] = &wl->params[i];
    qsort(b->sorted, b->n_sorted, sizeof *b->sorted, by_name);
}

static void hash_id(const struct text *t, char id[PLAN_ID])
{
    char hex[65];
    sha256_hex(t->s, t->len, hex);
    memcpy(id, hex, PLAN_ID - 1);
    id[PLAN_ID - 1] = '\0';
}

/* Ids are of canonical text, so that a value written in another way is the same cell. */
static void make_ids(const struct builder *b, const void *values, char cell[PLAN_ID],
                     char group[PLAN_ID])
{
    AUTO_TEXT struct text all = {0}, axes = {0};
    char value[256];
    text_add(&all, b->head);
    text_addf(&axes, "group\n%s", b->head);
    for (size_t i = 0; i < b->n_sorted; i++) {
        const struct wl_param *p = b->sorted[i];
        if (!plugin_has_param(&b->p->plugin->wl, p, values))
            continue;
        param_format(p, values, value, sizeof value);
        struct text *both[] = {&all, p->role == WL_AXIS ? &axes : NULL};
        for (size_t k = 0; k < 2 && both[k]; k++) {
            text_add(both[k], p->name);
            text_add(both[k], "=");
            text_add(both[k], value);
            text_add(both[k], "\n");
        }
    }
    hash_id(&all, cell);
    hash_id(&axes, group);
}

static char *params_text(const struct wl_plugin *wl, const void *values)
{
    struct text t = {0};
    char value[256];
    text_clear(&t);
    for (const struct wl_param *p = wl->params; p->name; p++) {
        if (!plugin_has_param(wl, p, values))
            continue;
        param_format(p, values, value, sizeof value);
        const char *quote = p->type == WL_TEXT && (!*value || strchr(value, ' ')) ? "\"" : "";
        text_add(&t, t.len ? " " : "");
        text_add(&t, p->name);
        text_add(&t, "=");
        text_add(&t, quote);
        text_add(&t, value);
        text_add(&t, quote);
    }
    return t.s;
}

/* ---- cells ---- */

/* Whether a plugin's reason begins with FILE:, the value of this parameter. */
static bool names_file(const struct wl_param *p, const void *values, const char *why)
{
    const char *value = (const char *)values + p->offset;
    size_t n = p->type == WL_TEXT ? strlen(value) : 0;
    return n && !strncmp(why, value, n) && why[n] == ':';
}

/* The key of the section that a plugin's reason names, as KEY=… or by its file; NULL: none. With a
 * file, the rest of the cell does not matter. */
static const struct config_entry *named_key(const struct builder *b, const void *values,
                                            const char *why, bool *file)
{
    const struct config *c = b->p->config;
    for (const struct wl_param *p = b->p->plugin->wl.params; p->name; p++) {
        const struct config_entry *e = config_find(c, b->p->section, p->name);
        size_t n = strlen(p->name);
        *file = e && names_file(p, values, why);
        if (*file || (e && !strncmp(why, p->name, n) && why[n] == '='))
            return e;
    }
    return NULL;
}

static int rejected(const struct builder *b, const void *values, const char *why)
{
    const struct config *c = b->p->config;
    bool file = false;
    const struct config_entry *key = named_key(b, values, why, &file);
    AUTO_FREE char *params = file ? NULL : params_text(&b->p->plugin->wl, values);
    return fail_at(GS_USAGE, key ? key->file : c->path,
                   key ? key->line : config_section(c, b->p->section)->line, "[%s] %s%s%s%s",
                   b->p->section, *why ? why : "the plugin rejects a cell without a reason",
                   params ? " (cell: " : "", params ? params : "", params ? ")" : "");
}

static int describe(struct builder *b, const void *values, struct wl_shape *shape, char **skip)
{
    const struct wl_plugin *wl = &b->p->plugin->wl;
    char why[512] = "";
    *shape = (struct wl_shape){.size = sizeof *shape};
    enum wl_status status = wl->describe(values, &b->job, shape, why, sizeof why);
    if (status == WL_OK)
        return GS_OK;
    if (status == WL_SKIP) {
        *skip = xstrdup(*why ? why : "the plugin gives no reason");
        return GS_OK;
    }
    for (size_t i = 0; i < b->n_whys; i++)
        if (!strcmp(b->whys[i], why))
            return GS_USAGE;
    if (b->n_whys == WHYS_MAX)
        return GS_USAGE;
    b->whys[b->n_whys++] = xstrdup(why);
    return rejected(b, values, why);
}

/* A cell that does not depend on the config is the same for all of them: it gets the defaults. */
static void unset_config(const struct builder *b, void *values)
{
    for (size_t i = 0; i < b->sweep.n_axes; i++) {
        const struct wl_param *p = b->sweep.axes[i].p;
        if (p->role == WL_CONFIG)
            memcpy((char *)values + p->offset, (const char *)b->sweep.defaults + p->offset,
                   param_size(p));
    }
}

static int add_cell(struct builder *b, size_t place)
{
    const struct wl_plugin *wl = &b->p->plugin->wl;
    void *values = xcalloc(1, wl->cell_size);
    struct cell cell = {.values = values};
    int code = GS_OK;
    if (!sweep_cell(&b->sweep, place, values) ||
        (code = describe(b, values, &cell.shape, &cell.skip))) {
        free(values);
        return code;
    }
    if (cell.shape.config_free)
        unset_config(b, values);
    cell.config =
        cell.shape.config_free ? xstrdup("") : label_config(wl, b->sweep.defaults, values);
    cell.mode = label_mode(wl, values);
    cell.params = params_text(wl, values);
    ALLOC_GROW(b->drafts, b->n, b->cap);
    struct draft *d = &b->drafts[b->n++];
    *d = (struct draft){.cell = cell, .place = place};
    make_ids(b, values, d->cell.id, d->group);
    return GS_OK;
}

static int add_cells(struct builder *b)
{
    int code = GS_OK;
    for (size_t i = 0; i < sweep_count(&b->sweep); i++)
        if (add_cell(b, i))
            code = GS_USAGE;
    if (!code && !b->n)
        code = config_error(config_find(b->p->config, b->p->section, "exclude"),
                            "excludes every cell");
    return code;
}

int plan_cells(struct plan *p)
{
    const struct set_launch *l = &p->set.launch;
    struct builder b = {.p = p,
                        .job = {.size = sizeof b.job,
                                .ranks = (int)l->ranks,
                                .nodes = (int)l->nodes,
                                .local_ranks = (int)(l->ranks / l->nodes)}};
    int code = sweep_read(&b.sweep, p->config, p->section, &p->plugin->wl);
    if (!code) {
        /* Another command is another experiment. */
        const struct config_entry *entry =
            plan_is_train(p) ? config_find(p->config, p->section, "command") : NULL;
        char *command = entry ? secrets_hidden(entry->value) : NULL;
        b.head =
            xstrfmt("platform=%s\nworkload=%s\nranks=%lld\nnodes=%lld\n%s%s%s",
                    p->set.platform.name, p->workload, (long long)l->ranks, (long long)l->nodes,
                    command ? "command=" : "", command ? command : "", command ? "\n" : "");
        free(command);
        sort_params(&b);
        code = add_cells(&b);
    }
    size_t drafts = b.n;
    if (!code)
        code = plan_group(p, b.drafts, b.n);
    draft_free(b.drafts, drafts);
    for (size_t i = 0; i < b.n_whys; i++)
        free(b.whys[i]);
    free(b.head);
    free(b.sorted);
    sweep_free(&b.sweep);
    return code;
}
