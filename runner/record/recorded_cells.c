/* SPDX-License-Identifier: Apache-2.0 */
#include "record/recorded_cells.h"

#include "base/jsontext.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t group_index(struct recorded *r, const char *id)
{
    for (size_t i = 0; i < r->n_groups; i++)
        if (!strcmp(r->groups[i].id, id))
            return i;
    ALLOC_MORE(r->groups, r->n_groups);
    r->groups[r->n_groups] = (struct rec_group){0};
    snprintf(r->groups[r->n_groups].id, PLAN_ID, "%s", id);
    return r->n_groups++;
}

struct rec_cell *recorded_find(const struct recorded *r, const char *id)
{
    for (size_t i = 0; i < r->n_cells; i++)
        if (!strcmp(r->cells[i].id, id))
            return &r->cells[i];
    return NULL;
}

struct rec_cell *recorded_add(struct recorded *r, const char *id, const char *group)
{
    ALLOC_MORE(r->cells, r->n_cells);
    struct rec_cell *c = &r->cells[r->n_cells++];
    *c = (struct rec_cell){.group = group_index(r, group)};
    snprintf(c->id, sizeof c->id, "%s", id);
    xstrset(&c->config, "");
    xstrset(&c->mode, "");
    xstrset(&c->params, "");
    xstrset(&c->ran, "");
    return c;
}

void recorded_describe(struct rec_cell *c, const json_t *o)
{
    xstrset(&c->config, json_text_of(o, "config"));
    xstrset(&c->mode, json_text_of(o, "mode"));
    c->size_B = json_integer_value(json_object_get(o, "size_B"));
    c->busbw_factor = json_number_value(json_object_get(o, "busbw_factor"));
    if (json_is_string(json_object_get(o, "params")))
        xstrset(&c->params, json_text_of(o, "params"));
}

/* The parameters of a cell line are an object, in the plugin's order, of texts and numbers. */
void recorded_set_params(struct rec_cell *c, json_t *params)
{
    AUTO_TEXT struct text t = {0};
    const char *key;
    json_t *v;
    text_clear(&t);
    words_free(&c->values);
    json_object_foreach(params, key, v)
    {
        AUTO_FREE char *number = json_is_string(v) ? NULL : json_dumps(v, JSON_ENCODE_ANY);
        const char *value = number ? number : json_string_value(v);
        text_addf(&t, "%s%s=%s", t.len ? " " : "", key, value);
        words_add(&c->values, key);
        words_add(&c->values, value);
    }
    if (t.len)
        xstrset(&c->params, t.s);
}

void recorded_set_metrics(struct rec_cell *c, const json_t *metrics)
{
    if (c->metrics)
        return;
    c->n_metrics = json_array_size(metrics);
    c->metrics = xcalloc(c->n_metrics, sizeof *c->metrics);
    c->units = xcalloc(c->n_metrics, sizeof *c->units);
    for (size_t i = 0; i < c->n_metrics; i++) {
        const json_t *m = json_array_get(metrics, i);
        c->metrics[i] = xstrdup(json_text_of(m, "name"));
        c->units[i] = xstrdup(json_text_of(m, "unit"));
    }
}

/* ---- what ran ---- */

#define RAN_OR " | "

/* The note is "unproven: …" if the library does not report its operation. */
void recorded_note(struct recorded *r, const struct raw_line *note)
{
    const char *value = raw_text(note, "value");
    struct rec_cell *c =
        strcmp(raw_text(note, "key"), "ran") != 0 ? NULL : recorded_find(r, raw_text(note, "cell"));
    if (!c || !*value || !strncmp(value, "unproven", strlen("unproven")) ||
        text_lists(c->ran, RAN_OR, value))
        return;
    char *both = *c->ran ? xstrfmt("%s" RAN_OR "%s", c->ran, value) : xstrdup(value);
    free(c->ran);
    c->ran = both;
}

static bool is_tuning(const char *param)
{
    static const char *const keys[] = {"algorithm=", "protocol=", "ctas=", "policy=", "config="};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strncmp(param, keys[i], strlen(keys[i])))
            return true;
    return false;
}

/* Has `other` every word of params that is no tuning? */
static bool has_all(const char *other, const char *params)
{
    AUTO_WORDS struct words w = {0};
    bool all = true;
    words_split(&w, params, ' ');
    for (size_t i = 0; i < w.n && all; i++)
        all = is_tuning(w.v[i]) || text_lists(other, " ", w.v[i]);
    return all;
}

bool recorded_same_operation(const char *ran, const char *params, const char *other_ran,
                             const char *other_params)
{
    return *ran && !strstr(ran, RAN_OR) && !strcmp(ran, other_ran) &&
           has_all(other_params, params) && has_all(params, other_params);
}

/* The cells of an imported run may not be in group order. */
void recorded_index_groups(struct recorded *r)
{
    struct rec_cell *sorted = xmalloc(r->n_cells * sizeof *sorted);
    size_t n = 0;
    for (size_t g = 0; g < r->n_groups; g++) {
        r->groups[g].first = n;
        for (size_t i = 0; i < r->n_cells; i++)
            if (r->cells[i].group == g)
                sorted[n++] = r->cells[i];
        r->groups[g].n = n - r->groups[g].first;
    }
    free(r->cells);
    r->cells = sorted;
}

/* An import has no plan: each size of a config should have as many launches as the size with most.
 * Each of its cells is a group. */
void recorded_count_launches(struct recorded *r, int64_t planned)
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

void recorded_free_cell(struct rec_cell *c)
{
    for (size_t i = 0; i < c->n_metrics; i++) {
        free(c->metrics[i]);
        free(c->units[i]);
    }
    free(c->metrics);
    free(c->units);
    free(c->config);
    free(c->mode);
    free(c->params);
    free(c->ran);
    words_free(&c->values);
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

bool recorded_compares(const struct recorded *r)
{
    for (const struct rec_cell *a = r->cells, *end = a + r->n_cells; a < end; a++)
        for (const struct rec_cell *b = a + 1; b < end; b++)
            if (a->size_B == b->size_B && !strcmp(a->mode, b->mode) && strcmp(a->config, b->config))
                return true;
    return false;
}
