/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/compare_json.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/setting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- filter ---- */

enum criterion { BY_PLATFORM, BY_MODE, BY_SIZE, BY_CONFIG, CRITERIA };
static const char *const criterion_names[CRITERIA] = {"platform", "mode", "size", "config"};

/* Of a mode that is none the name is the level: an operation alone, a trial, a training. */
static const char *value_of(enum criterion by, const struct contrast *c, char buf[64])
{
    return by == BY_PLATFORM ? c->platform
           : by == BY_CONFIG ? c->config
           : by == BY_SIZE   ? units_size(buf, 64, (uint64_t)c->size_B)
           : *c->mode        ? c->mode
                             : level_names[contrast_level(c)];
}

static int by_size(const void *a, const void *b)
{
    const struct contrast *x = a, *y = b;
    return (x->size_B > y->size_B) - (x->size_B < y->size_B);
}

/* The size with the smallest ratio to the one that was asked for; NULL: that is no size. */
static const char *nearest_size(const struct comparison *c, const char *asked, char buf[64])
{
    uint64_t bytes;
    double least = INFINITY;
    const char *near = NULL;
    for (size_t i = 0; units_parse_size(asked, &bytes) && i < c->n; i++) {
        double ratio = fabs(log((double)c->v[i].size_B / (double)bytes));
        if (ratio < least) {
            least = ratio;
            near = value_of(BY_SIZE, &c->v[i], buf);
        }
    }
    return near;
}

/* Reorders c. */
static int nothing(enum criterion by, const char *typed, struct comparison *c)
{
    char buf[64];
    AUTO_WORDS struct words values = {0};
    AUTO_TEXT struct text list = {0};
    if (by == BY_SIZE)
        qsort(c->v, c->n, sizeof *c->v, by_size);
    for (size_t i = 0; i < c->n; i++)
        words_add_once(&values, value_of(by, &c->v[i], buf));
    for (size_t i = 0; i < values.n; i++)
        text_addf(&list, "%s%s", i ? ", " : "", values.v[i]);
    const char *near = by == BY_SIZE ? nearest_size(c, typed, buf) : NULL;
    near = near ? near : text_nearest(typed, (const char *const *)values.v, values.n);
    return fail(GS_USAGE, "compare: nothing matches --%s %s%s; choose %s", criterion_names[by],
                typed, DID_YOU_MEAN(near), list.s);
}

/* Keeps those of this value; c has one at least. */
static int keep(enum criterion by, const char *typed, struct comparison *c)
{
    char buf[64], size[64];
    uint64_t bytes;
    size_t kept = 0;
    const char *value = by == BY_SIZE && units_parse_size(typed, &bytes)
                            ? units_size(size, sizeof size, bytes)
                            : typed;
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(value_of(by, &c->v[i], buf), value))
            c->v[kept++] = c->v[i];
    if (!kept)
        return nothing(by, typed, c);
    c->n = kept;
    return GS_OK;
}

int compare_filter(const struct compare_filter *f, const struct comparison *c,
                   struct comparison *shown)
{
    const char *const typed[CRITERIA] = {f->platform, f->mode, f->size, f->config};
    *shown = (struct comparison){.v = xcalloc(c->n + 1, sizeof *c->v), .families = c->families};
    for (; shown->n < c->n; shown->n++)
        shown->v[shown->n] = c->v[shown->n];
    for (int by = 0; by < CRITERIA; by++)
        if (typed[by] && shown->n)
            CHECK(keep(by, typed[by], shown));
    return GS_OK;
}

/* ---- compare json ---- */

static json_t *percent(double log_ratio)
{
    return json_finite(100 * expm1(log_ratio));
}

static json_t *named(const struct contrast *c)
{
    return json_pack("{so so so so so so ss sI}", "platform", json_text(c->platform), "workload",
                     json_text(c->workload), "label", json_text(c->label), "run_id",
                     json_text(c->run_id), "mode", json_text(c->mode), "baseline",
                     json_text(c->baseline), "level", level_names[contrast_level(c)], "size_bytes",
                     (json_int_t)c->size_B);
}

/* The numbers of an effect; NULL: none, because the baseline is the best config. */
static void effect(json_t *o, const struct contrast *c)
{
    json_object_set_new(o, "change_percent", c ? percent(c->effect.value) : json_real(0));
    json_object_set_new(o, "change_low_percent", c ? percent(c->effect.lo) : json_null());
    json_object_set_new(o, "change_high_percent", c ? percent(c->effect.hi) : json_null());
}

static json_t *contrast(const struct contrast *c)
{
    const struct judgement *j = &c->judgement;
    json_t *o = named(c);
    json_object_set_new(o, "config", json_text(c->config));
    json_object_set_new(o, "params", json_text(c->params));
    effect(o, c);
    json_object_update_new(
        o, json_pack("{so so si so ss ss ss so}", "floor_percent", percent(c->floor), "p_holm",
                     json_finite(c->p_holm), "launches", c->effect.launches, "launches_needed",
                     j->needed >= 0 ? json_integer(j->needed) : json_null(), "verdict",
                     verdict_names[j->verdict], "small_effect", contrast_small(c),
                     "measured_verdict", verdict_names[c->measured], "reason",
                     json_text(*j->reason ? j->reason
                               : c->note  ? c->note
                                          : "")));
    return o;
}

/* In words of a shell, and as names and values; null removes a variable. */
static void environment(json_t *o, const struct contrast *c)
{
    AUTO(setting_free) struct setting s = {0};
    bool any = c && setting_of(&s, c);
    AUTO_FREE char *line = any ? setting_export_line(&s) : NULL;
    json_t *variables = json_object();
    for (size_t i = 0; any && i + 1 < s.environment.n; i += 2)
        json_object_set_new(variables, s.environment.v[i], json_string(s.environment.v[i + 1]));
    for (size_t i = 0; any && i < s.unset.n; i++)
        json_object_set_new(variables, s.unset.v[i], json_null());
    json_object_set_new(o, "environment", json_string(line ? line : ""));
    json_object_set_new(o, "variables", variables);
}

static json_t *group(const struct winner *w)
{
    const struct contrast *shown = w->best ? w->best : w->small;
    json_t *o = named(w->first), *alike = json_array();
    json_object_set_new(o, "params", json_text(w->first->params));
    json_object_set_new(o, "fastest", json_text(shown ? shown->config : winner_config(w)));
    json_object_set_new(o, "verdict", json_text(winner_verdict(w)));
    environment(o, w->best);
    effect(o, shown);
    for (size_t i = 0; i < w->alike.n; i++)
        json_array_append_new(alike, json_text(w->alike.v[i]));
    json_object_update_new(
        o, json_pack("{so sI sI so}", "floor_percent", percent((shown ? shown : w->first)->floor),
                     "rivals", (json_int_t)w->rivals, "rivals_slower",
                     (json_int_t)w->counts[VERDICT_SLOWER], "not_distinguishable_from", alike));
    return o;
}

void comparison_print_json(const struct comparison *c, const struct winners *w)
{
    json_t *groups = json_array(), *contrasts = json_array();
    for (size_t i = 0; i < w->n; i++)
        if (comparison_has_family(c, w->v[i].first->family))
            json_array_append_new(groups, group(&w->v[i]));
    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(contrasts, contrast(&c->v[i]));
    AUTO_JSON json_t *o = json_pack("{ss, so, so}", "schema", "gradsync-compare-1", "groups",
                                    groups, "contrasts", contrasts);
    json_print(o, JSON_INDENT(1));
}
