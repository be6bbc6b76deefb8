/* SPDX-License-Identifier: Apache-2.0 */
#include "record/recorded.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "config/config.h"
#include "config/settings.h"
#include "record/manifest.h"
#include "record/record.h"
#include "record/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- cells ---- */

static size_t group_index(struct recorded *r, const char *id)
{
    for (size_t i = 0; i < r->n_groups; i++)
        if (!strcmp(r->groups[i].id, id))
            return i;
    struct rec_group *g = &APPEND(r->groups, r->n_groups);
    *g = (struct rec_group){0};
    snprintf(g->id, PLAN_ID, "%s", id);
    return r->n_groups - 1;
}

static struct rec_cell *recorded_add(struct recorded *r, const char *id, const char *group)
{
    struct rec_cell *c = &APPEND(r->cells, r->n_cells);
    *c = (struct rec_cell){.group = group_index(r, group)};
    snprintf(c->id, sizeof c->id, "%s", id);
    xstrset(&c->config, "");
    xstrset(&c->mode, "");
    xstrset(&c->params, "");
    xstrset(&c->ran, "");
    return c;
}

/* From plan.json or a cell line. */
static void describe_cell(struct rec_cell *c, const json_t *o)
{
    xstrset(&c->config, json_text_of(o, "config"));
    xstrset(&c->mode, json_text_of(o, "mode"));
    c->size_B = json_integer_value(json_object_get(o, "size_B"));
    c->busbw_factor = json_number_value(json_object_get(o, "busbw_factor"));
    if (json_is_string(json_object_get(o, "params")))
        xstrset(&c->params, json_text_of(o, "params"));
}

/* ---- what ran ---- */

#define RAN_OR " | "

/* The note is "unproven: …" if the library does not report its operation. */
static void recorded_ran(struct recorded *r, const char *cell, const char *value)
{
    size_t place = ledger_find(r->ledger, cell);
    struct rec_cell *c = place < r->n_cells ? &r->cells[place] : NULL;
    if (!c || !*value || !strncmp(value, "unproven", strlen("unproven")) ||
        text_lists(c->ran, RAN_OR, value))
        return;
    char *both = *c->ran ? xstrfmt("%s" RAN_OR "%s", c->ran, value) : xstrdup(value);
    free(c->ran);
    c->ran = both;
}

/* Has `other` every word of params that is no tuning? */
static bool has_all(const char *other, const char *params)
{
    static const char *const tuning[] = {"algorithm=", "protocol=", "ctas=", "policy=", "config="};
    AUTO_WORDS struct words w = {0};
    bool all = true;
    words_split(&w, params, ' ');
    for (size_t i = 0; i < w.n && all; i++) {
        all = text_lists(other, " ", w.v[i]);
        for (size_t k = 0; k < COUNT(tuning); k++)
            all = all || !strncmp(w.v[i], tuning[k], strlen(tuning[k]));
    }
    return all;
}

bool recorded_same_operation(const char *ran, const char *params, const char *other_ran,
                             const char *other_params)
{
    return *ran && !strstr(ran, RAN_OR) && !strcmp(ran, other_ran) &&
           has_all(other_params, params) && has_all(params, other_params);
}

/* The cells of an imported run may not be in group order. */
static void recorded_index_groups(struct recorded *r)
{
    struct rec_cell *sorted = xmalloc(r->n_cells * sizeof *sorted);
    AUTO_FREE size_t *place = xcalloc(r->n_cells + 1, sizeof *place);
    size_t n = 0;
    for (size_t g = 0; g < r->n_groups; g++) {
        r->groups[g].first = n;
        for (size_t i = 0; i < r->n_cells; i++)
            if (r->cells[i].group == g) {
                place[i] = n;
                sorted[n++] = r->cells[i];
            }
        r->groups[g].n = n - r->groups[g].first;
    }
    for (size_t i = 0; i < r->n_blocks; i++)
        r->blocks[i].cell = place[r->blocks[i].cell];
    free(r->cells);
    r->cells = sorted;
}

/* An import has no plan: each size of a config should have as many launches as the size with most.
 * Each of its cells is a group. */
static void recorded_count_launches(struct recorded *r, int64_t planned)
{
    AUTO_FREE int64_t *of_group = xcalloc(r->n_groups + 1, sizeof *of_group);
    for (size_t i = 0; i < r->n_spans; i++)
        of_group[r->spans[i].group]++;
    for (size_t i = 0; i < r->n_cells; i++) {
        r->cells[i].launches = planned;
        if (!r->imported)
            continue;
        r->cells[i].launches = 0;
        for (size_t k = 0; k < r->n_cells; k++)
            if (!strcmp(r->cells[k].config, r->cells[i].config) &&
                of_group[r->cells[k].group] > r->cells[i].launches)
                r->cells[i].launches = of_group[r->cells[k].group];
    }
}

const char *recorded_param(const struct rec_cell *c, const char *key, char *buf, size_t n)
{
    size_t k = strlen(key), word;
    for (const char *s = c->params; *s; s += word) {
        s += strspn(s, " ");
        word = strcspn(s, " ");
        if (word > k && s[k] == '=' && !strncmp(s, key, k)) {
            snprintf(buf, n, "%.*s", (int)(word - k - 1), s + k + 1);
            return buf;
        }
    }
    return NULL;
}

/* ---- recordings ---- */

static int read_header(struct recorded *r, const struct raw *raw, const char *path,
                       const struct raw_line *l)
{
    const char *run, *platform, *workload;
    if (!raw_string(raw, l, "run_id", &run) || !raw_string(raw, l, "platform", &platform) ||
        !raw_string(raw, l, "workload", &workload) || !raw_integer(raw, l, "ranks", &r->ranks) ||
        !raw_integer(raw, l, "nodes", &r->nodes))
        return GS_FAILED;
    if (r->run_id && strcmp(r->workload, workload))
        return fail_at(GS_FAILED, path, 1,
                       "foreign: recorded by workload '%s', but this run folder belongs to '%s'; "
                       "move the file to its own folder",
                       workload, r->workload);
    xstrset(&r->run_id, run);
    xstrset(&r->platform, platform);
    xstrset(&r->workload, workload);
    xstrset(&r->label, json_text_of(l->json, "label"));
    xstrset(&r->plugin, json_text_of(l->json, "plugin"));
    const json_t *overrides = json_object_get(l->json, "overrides");
    size_t n = r->overrides ? 0 : json_array_size(overrides); /* the first header's count */
    r->overrides = r->overrides ? r->overrides : xcalloc(n + 1, sizeof *r->overrides);
    for (size_t i = 0; i < n; i++) {
        const char *s = json_string_value(json_array_get(overrides, i));
        r->overrides[i] = xstrdup(s ? s : "");
    }
    r->imported = json_is_object(json_object_get(l->json, "imported"));
    r->seed = (uint64_t)json_integer_value(json_object_get(l->json, "seed"));
    return GS_OK;
}

/* The first line of a cell, in whatever launch. Its parameters are an object, in the plugin's order, of
 * texts and numbers. */
static void read_parameters(struct rec_cell *c, const json_t *o)
{
    AUTO_TEXT struct text params = {0};
    const char *key;
    json_t *v;
    size_t i;
    describe_cell(c, o);
    json_object_foreach((json_t *)json_object_get(o, "params"), key, v)
    {
        AUTO_FREE char *number = json_is_string(v) ? NULL : json_dumps(v, JSON_ENCODE_ANY);
        const char *value = number ? number : json_string_value(v);
        text_addf(&params, "%s%s=%s", params.len ? " " : "", key, value);
        words_add(&c->values, key);
        words_add(&c->values, value);
    }
    if (params.len)
        xstrset(&c->params, params.s);
    const json_t *metrics = json_object_get(o, "metrics");
    c->n_metrics = json_array_size(metrics);
    c->metrics = xcalloc(c->n_metrics, sizeof *c->metrics);
    c->units = xcalloc(c->n_metrics, sizeof *c->units);
    json_array_foreach(metrics, i, v)
    {
        c->metrics[i] = xstrdup(json_text_of(v, "name"));
        c->units[i] = xstrdup(json_text_of(v, "unit"));
    }
}

static void read_cell(struct recorded *r, size_t cell, struct raw *raw, const struct raw_line *l,
                      size_t file)
{
    struct rec_cell *c = cell < r->n_cells
                             ? &r->cells[cell]
                             : recorded_add(r, raw_text(l, "cell"), raw_text(l, "group"));
    if (!c->metrics)
        read_parameters(c, raw_tree(raw, l));
    const struct rec_span *last = r->n_spans ? &r->spans[r->n_spans - 1] : NULL;
    if (!last || last->file != file || last->group != c->group)
        APPEND(r->spans, r->n_spans) =
            (struct rec_span){.file = file, .group = c->group, .first = r->n_blocks};
}

struct reading {
    struct recorded *r;
    const struct ledger_reader *also; /* NULL: none */
    struct host_load *load;
    struct words ran; /* cell, value, cell, value...: a note may come before its cell line */
};

static void read_note(struct reading *in, struct rec_file *f, const struct raw_line *l)
{
    if (!f->begun) {
        words_add(&f->notes, raw_text(l, "key"));
        words_add(&f->notes, raw_text(l, "value"));
    }
    if (!strcmp(raw_text(l, "key"), "ran")) {
        words_add(&in->ran, raw_text(l, "cell"));
        words_add(&in->ran, raw_text(l, "value"));
    }
}

static int read_block(struct recorded *r, size_t cell, const struct raw *raw,
                      const struct raw_line *l)
{
    int64_t copy, number, iters;
    if (!r->n_spans || !raw_integer(raw, l, "copy", &copy) ||
        !raw_integer(raw, l, "block", &number) || !raw_integer(raw, l, "iters", &iters))
        return GS_FAILED; /* cannot be: the line was checked */
    const struct rec_cell *c = &r->cells[cell];
    struct rec_block *b = &APPEND(r->blocks, r->n_blocks);
    *b = (struct rec_block){.cell = cell,
                            .span = r->n_spans - 1,
                            .copy = (int)copy,
                            .number = (int)number,
                            .iters = (uint64_t)iters,
                            .at = raw_number(l, NULL, "at"),
                            .skew_ns = raw_number(l, NULL, "skew_ns"),
                            .spread_ns = raw_number(l, NULL, "spread_ns"),
                            .metrics = xcalloc(c->n_metrics, sizeof *b->metrics),
                            .time_ns = xmalloc(l->n * sizeof *b->time_ns),
                            .n = l->n};
    for (size_t i = 0; i < c->n_metrics; i++)
        b->metrics[i] = raw_number(l, "metrics", c->metrics[i]);
    memcpy(b->time_ns, l->time_ns, l->n * sizeof *b->time_ns);
    r->spans[b->span].n++;
    return GS_OK;
}

static int read_line(void *ctx, const struct ledger *ledger, size_t file, size_t cell,
                     struct raw *raw, const struct raw_line *l)
{
    struct reading *in = ctx;
    struct recorded *r = in->r;
    struct rec_span *last = r->n_spans ? &r->spans[r->n_spans - 1] : NULL;
    bool of_last = last && last->file == file &&
                   !strcmp(r->groups[last->group].id, raw_text(l, "group")) && !last->closed;
    if (!r->files) {
        r->files = xcalloc(ledger->n_files, sizeof *r->files);
        r->n_files = ledger->n_files;
        r->planned = ledger->plan;
        r->launches = json_integer_of(ledger->plan, "launches");
        const json_t *planned = json_object_get(ledger->plan, "cells");
        for (size_t i = 0; i < json_array_size(planned); i++)
            describe_cell(recorded_add(r, ledger->cells[i].id, ledger->cells[i].group),
                          json_array_get(planned, i));
    }
    host_load_line(in->load, l);
    if (in->also)
        CHECK(in->also->line(in->also->ctx, ledger, file, cell, raw, l));
    switch (l->type) {
    case RAW_HEADER:
        r->files[file].header = json_incref(l->json);
        return read_header(r, raw, ledger->files[file].path, l);
    case RAW_NOTE:
        read_note(in, &r->files[file], l);
        return GS_OK;
    case RAW_CELL:
        r->files[file].begun = true;
        read_cell(r, cell, raw, l, file);
        return GS_OK;
    case RAW_BLOCK:
        return read_block(r, cell, raw, l);
    case RAW_HEALTH:
        if (of_last)
            host_load_throttled(l->json, &last->readings, &last->throttled);
        return GS_OK;
    case RAW_GROUP:
        if (of_last)
            last->closed = true;
        return GS_OK;
    default:
        return GS_OK;
    }
}

static int read_recordings(struct recorded *r, const struct ledger_reader *also)
{
    struct reading in = {.r = r, .also = also, .load = host_load_new()};
    int code = ledger_read_of(&r->ledger, r->dir, NULL, &(struct ledger_reader){read_line, &in});
    for (size_t i = 0; !code && i + 1 < in.ran.n; i += 2)
        recorded_ran(r, in.ran.v[i], in.ran.v[i + 1]);
    for (size_t i = 0; !code && i < r->ledger->n_files; i++)
        if (r->ledger->files[i].torn)
            say("%s: ignoring the incomplete last line", r->ledger->files[i].path);
    if (!code && !r->imported)
        host_load_disturbed(&r->disturbed, in.load);
    host_load_delete(in.load);
    words_free(&in.ran);
    return code;
}

/* ---- the config ---- */

static int read_config(struct recorded *r)
{
    AUTO_FREE char *path = xstrfmt("%s/config.ini", r->dir),
                   *today_path = xstrfmt("configs/%s.ini", r->platform);
    AUTO(config_free_of) struct config *none = NULL, *today = NULL;
    struct settings set;
    CHECK(access(path, F_OK) ? config_from_text(&none, path, "", 0, NULL)
                             : config_load(&r->config, path, (const char *const *)r->overrides));
    CHECK(settings_read(r->config ? r->config : none, &set));
    r->measure = set.measure;
    /* A limit describes the hardware, not the run. So a corrected config also applies to older
     * recordings. The run's other overrides may be of sections that this config does not have: the run may
     * be from another config of the platform. */
    size_t n = 0, kept = 0;
    while (r->overrides[n])
        n++;
    AUTO_FREE const char **limits = xcalloc(n + 1, sizeof *limits);
    for (size_t i = 0; i < n; i++)
        if (!strncmp(r->overrides[i], "limits:", strlen("limits:")))
            limits[kept++] = r->overrides[i];
    int code = access(today_path, F_OK) ? GS_OK : config_load(&today, today_path, limits);
    r->limit = today       ? settings_limit(today, "busbw")
               : r->config ? settings_limit(r->config, "busbw")
                           : (double)NAN;
    return code;
}

/* ---- the folder ---- */

int recorded_read(struct recorded **out, const char *dir)
{
    return recorded_read_with(out, dir, NULL);
}

int recorded_read_with(struct recorded **out, const char *dir, const struct ledger_reader *also)
{
    struct recorded *r = xcalloc(1, sizeof *r);
    *out = NULL;
    r->dir = xstrdup(dir);
    /* A run without a manifest is read as far as it was recorded. */
    int code = run_is_final(dir) ? manifest_verify(dir) : GS_OK;
    TRY(code, read_recordings(r, also));
    if (!code && r->run_id)
        code = read_config(r);
    if (code || !r->run_id) {
        recorded_free(r);
        return code;
    }
    recorded_index_groups(r);
    int64_t planned = r->launches;
    for (size_t i = 0; i < r->ledger->n_files; i++)
        if (r->ledger->files[i].launch > r->launches)
            r->launches = r->ledger->files[i].launch;
    recorded_count_launches(r, planned ? planned : r->launches);
    *out = r;
    return GS_OK;
}

void recorded_free(struct recorded *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_cells; i++) {
        struct rec_cell *c = &r->cells[i];
        for (size_t m = 0; m < c->n_metrics; m++) {
            free(c->metrics[m]);
            free(c->units[m]);
        }
        char *const owned[] = {c->config, c->mode, c->params, c->ran};
        for (size_t k = 0; k < COUNT(owned); k++)
            free(owned[k]);
        free(c->metrics);
        free(c->units);
        words_free(&c->values);
    }
    for (char **o = r->overrides; o && *o; o++)
        free(*o);
    free(r->overrides);
    config_free(r->config);
    ledger_free(r->ledger);
    for (size_t i = 0; i < r->n_files; i++) {
        json_decref(r->files[i].header);
        words_free(&r->files[i].notes);
    }
    free(r->files);
    host_load_free(&r->disturbed);
    free(r->cells);
    free(r->groups);
    free(r->spans);
    for (size_t i = 0; i < r->n_blocks; i++) {
        free(r->blocks[i].metrics);
        free(r->blocks[i].time_ns);
    }
    free(r->blocks);
    free(r->dir);
    free(r->run_id);
    free(r->platform);
    free(r->workload);
    free(r->label);
    free(r->plugin);
    free(r);
}

const struct rec_span *recorded_span(const struct recorded *r, size_t group, int launch,
                                     bool *closed)
{
    const struct rec_span *latest = NULL;
    *closed = false;
    for (size_t i = 0; i < r->n_spans && !*closed; i++) {
        const struct rec_span *s = &r->spans[i];
        if (s->group == group && r->ledger->files[s->file].launch == launch) {
            latest = s;
            *closed = s->closed;
        }
    }
    return latest;
}
