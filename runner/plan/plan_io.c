/* SPDX-License-Identifier: Apache-2.0 */

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "base/version.h"
#include "config/config.h"
#include "plan/plan.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- plan.json ---- */

/* section, workload, label, platform, overrides, seed, launches, ranks, nodes, config_sha256,
 * gradsync, groups [id], cells [{id, group, config, mode, params, size_B, busbw_factor, baseline,
 * skip}]. The caller owns the reference. */
static json_t *plan_json(const struct plan *p)
{
    json_t *cells = json_array(), *groups = json_array(), *overrides = json_array();
    for (size_t i = 0; i < p->n_groups; i++) {
        const struct group *g = &p->groups[i];
        json_array_append_new(groups, json_string(g->id));
        for (size_t k = g->first; k < g->first + g->n; k++) {
            const struct cell *c = &p->cells[k];
            json_t *o =
                json_pack("{s:s, s:s, s:o, s:o, s:o, s:I, s:f, s:b}", "id", c->id, "group", g->id,
                          "config", json_text(c->config), "mode", json_text(c->mode), "params",
                          json_text(c->params), "size_B", (json_int_t)c->shape.size_B,
                          "busbw_factor", c->shape.busbw_factor, "baseline", c->baseline);
            if (c->skip)
                json_object_set_new(o, "skip", json_text(c->skip));
            json_array_append_new(cells, o);
        }
    }
    for (size_t i = 0; p->config->overrides[i]; i++)
        json_array_append_new(overrides, json_text(p->config->overrides[i]));
    return json_pack("{s:s, s:s, s:o, s:s, s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:s, s:o, s:o}",
                     "gradsync", GRADSYNC_VERSION, "commit", gradsync_commit, "platform",
                     json_text(p->set.platform.name), "section", p->section, "workload",
                     p->workload, "label", p->label, "overrides", overrides, "seed",
                     (json_int_t)p->seed, "launches", (json_int_t)p->set.measure.launches, "ranks",
                     (json_int_t)p->set.launch.ranks, "nodes", (json_int_t)p->set.launch.nodes,
                     "config_sha256", p->config_sha256, "groups", groups, "cells", cells);
}

/* ---- writing ---- */

/* Whole or not at all: a full disk leaves no plan that is cut short. A run folder is new, and what is
 * in it is never overwritten. */
static int write_whole(const char *dir, const char *name, const char *text)
{
    AUTO_FREE char *path = xstrfmt("%s/%s", dir, name);
    bool there = !access(path, F_OK);
    return !there && files_replace(path, text, 0666)
               ? GS_OK
               : fail_file(path, "written", there ? EEXIST : errno);
}

int plan_write(const struct plan *p, const char *dir)
{
    AUTO_JSON json_t *json = plan_json(p);
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof host - 1);
    json_object_set_new(json, "host", json_text(host));
    char *text = json_dumps(json, JSON_SORT_KEYS | JSON_INDENT(1));
    AUTO_TEXT struct text line = {0};
    text_addf(&line, "%s\n", text);
    free(text);
    CHECK(write_whole(dir, "config.ini", p->config->text));
    return write_whole(dir, "plan.json", line.s);
}

/* ---- reading ---- */

struct reader {
    const char *dir;
    char *path; /* of plan.json */
    json_t *json;
};

static const char *string(const struct reader *r, const char *key)
{
    const char *s = json_string_value(json_object_get(r->json, key));
    if (!s)
        fail_at(GS_FAILED, r->path, 0, "damaged: no text '%s'", key);
    return s;
}

/* With the overrides of the plan; and with the platform's name where it came from the name of the
 * config, which is not that of the copy. */
static int load_config(const struct reader *r, struct config **out)
{
    json_t *list = json_object_get(r->json, "overrides"), *one;
    const char *name = string(r, "platform"), *sha256 = string(r, "config_sha256");
    AUTO_FREE char *path = xstrfmt("%s/config.ini", r->dir);
    AUTO_FREE char *platform = xstrfmt("platform:name=%s", name ? name : "");
    AUTO_FREE const char **overrides = xcalloc(json_array_size(list) + 2, sizeof *overrides);
    bool named = false;
    char hex[65];
    size_t i, n = 0;
    json_array_foreach(list, i, one)
    {
        if (!json_is_string(one))
            continue;
        overrides[n++] = json_string_value(one);
        named = named || !strncmp(overrides[n - 1], "platform:name=", 14);
    }
    if (!named)
        overrides[n] = platform;
    if (!name || !sha256)
        return GS_FAILED;
    CHECK(config_load(out, path, overrides));
    if (!named) { /* the user gave none */
        free((*out)->overrides[n]);
        (*out)->overrides[n] = NULL;
    }
    sha256_hex((*out)->text, strlen((*out)->text), hex);
    if (!strcmp(sha256, hex))
        return GS_OK;
    config_free(*out);
    *out = NULL;
    return fail_at(GS_FAILED, path, 0,
                   "edited since the run was planned: its SHA-256 is not the one in plan.json");
}

/* Do the same cells come out, in the same groups? */
static int other_cells(const struct reader *r, const struct plan *p)
{
    json_t *cells = json_object_get(r->json, "cells");
    bool same = json_array_size(cells) == p->n_cells;
    for (size_t g = 0; g < p->n_groups && same; g++)
        for (size_t i = p->groups[g].first; i < p->groups[g].first + p->groups[g].n && same; i++) {
            json_t *o = json_array_get(cells, i);
            const char *id = json_string_value(json_object_get(o, "id"));
            const char *group = json_string_value(json_object_get(o, "group"));
            same = id && group && !strcmp(id, p->cells[i].id) && !strcmp(group, p->groups[g].id);
        }
    if (same)
        return GS_OK;
    const char *version = json_string_value(json_object_get(r->json, "gradsync"));
    return fail_at(GS_CANNOT, r->path, 0,
                   "its cells differ from those that its config gives now (planned by gradsync %s; "
                   "this is %s, "
                   "plugin %s %s): resume with the old versions, or run the config again",
                   version ? version : "unknown", GRADSYNC_VERSION, p->workload,
                   p->plugin->wl.version);
}

static int rebuild(const struct reader *r, struct plan **out)
{
    struct config *config;
    const char *section = string(r, "section");
    json_t *seed = json_object_get(r->json, "seed");
    if (!section)
        return GS_FAILED;
    if (!json_is_integer(seed))
        return fail_at(GS_FAILED, r->path, 0, "damaged: no number 'seed'");
    int code = load_config(r, &config);
    TRY(code, plan_build(out, config, section, NULL, NULL));
    if (code)
        return code;
    (*out)->seed = (uint64_t)json_integer_value(seed);
    code = other_cells(r, *out);
    if (code) {
        plan_free(*out);
        *out = NULL;
    }
    return code;
}

int plan_read(struct plan **out, const char *dir)
{
    struct reader r = {.dir = dir, .path = xstrfmt("%s/plan.json", dir)};
    *out = NULL;
    int code = json_names_load(&r.json, r.path);
    TRY(code, r.json ? rebuild(&r, out)
                     : fail_at(GS_USAGE, dir, 0, "no plan.json: this is no run folder"));
    json_decref(r.json);
    free(r.path);
    return code;
}
