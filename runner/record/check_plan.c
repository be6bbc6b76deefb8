/* SPDX-License-Identifier: Apache-2.0 */
#include "record/check_plan.h"

#include "base/err.h"
#include "base/json_names.h"
#include "base/sha256.h"
#include "base/text.h"
#include "config/settings_tables.h"

#include <stdlib.h>
#include <string.h>

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct planned_cell *)a)->id, ((const struct planned_cell *)b)->id);
}

static int index_cells(struct check_plan *p, const char *path)
{
    size_t i;
    json_t *o, *cells = json_object_get(p->root, "cells");
    p->cells = xcalloc(json_array_size(cells) + 1, sizeof *p->cells);
    json_array_foreach(cells, i, o)
    {
        struct planned_cell *c = &p->cells[p->n++];
        c->id = json_string_value(json_object_get(o, "id"));
        c->group = json_string_value(json_object_get(o, "group"));
        if (!c->id || !*c->id || !c->group || !*c->group)
            return fail_at(GS_FAILED, path, 0,
                           "damaged: cell %zu has no id, or no group; restore the file", i + 1);
    }
    if (p->n)
        qsort(p->cells, p->n, sizeof *p->cells, by_id);
    for (i = 1; i < p->n; i++)
        if (!by_id(&p->cells[i - 1], &p->cells[i]))
            return fail_at(GS_FAILED, path, 0, "damaged: cell %s is listed twice; restore the file",
                           p->cells[i].id);
    return GS_OK;
}

/* Readers visit every launch. */
static int check_launches(const struct check_plan *p, const char *path)
{
    const json_t *launches = json_object_get(p->root, "launches");
    json_int_t n = json_integer_value(launches);
    if (!launches || (n >= 1 && n <= SET_LAUNCHES_MAX))
        return GS_OK;
    return fail_at(GS_FAILED, path, 0,
                   "damaged: launches = %lld: must be 1 to %d; restore the file", (long long)n,
                   SET_LAUNCHES_MAX);
}

static int check_config(const struct check_plan *p, const char *dir)
{
    char hex[65], *path = xstrfmt("%s/config.ini", dir);
    const char *planned = json_string_value(json_object_get(p->root, "config_sha256"));
    int code = planned ? sha256_file(path, hex) : GS_OK;
    if (!code && planned && strcmp(planned, hex))
        code = fail_at(GS_FAILED, path, 0,
                       "edited: its SHA-256 differs from the one in plan.json; restore the file");
    free(path);
    return code;
}

int check_plan_read(struct check_plan *p, const char *dir)
{
    AUTO_FREE char *path = xstrfmt("%s/plan.json", dir);
    *p = (struct check_plan){0};
    int code = json_names_load(&p->root, path);
    if (p->root)
        code = sha256_file(path, p->sha256);
    if (!code)
        code = check_launches(p, path);
    if (!code)
        code = index_cells(p, path);
    return code ? code : check_config(p, dir);
}

void check_plan_free(struct check_plan *p)
{
    json_decref(p->root);
    free(p->cells);
    *p = (struct check_plan){0};
}

bool check_plan_has(const struct check_plan *p, const char *cell, const char *group)
{
    const struct planned_cell key = {.id = cell};
    const struct planned_cell *c =
        p->n ? bsearch(&key, p->cells, p->n, sizeof *p->cells, by_id) : NULL;
    return !p->root || (c && !strcmp(c->group, group));
}
