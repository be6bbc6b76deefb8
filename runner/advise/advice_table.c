/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/advice.h"
#include "base/units.h"
#include "reduce/axes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const advice_headings[ADVICE_COLUMNS] = {
    [ADVICE_STEP] = "step",
    [ADVICE_SETTING] = "setting",
    [ADVICE_GAIN] = "gain",
    [ADVICE_OPEN] = "left open",
    [ADVICE_LEVEL] = "level",
    [ADVICE_RAN_BASELINE] = "baseline ran",
    [ADVICE_RAN_SETTING] = "setting ran",
    [ADVICE_WORDS] = "advice",
};

/* What a row says first: wins of the advised setting, other wins, likely wins,
 * small gains, then what may
 * still win. */
static double rank(const struct evidence *e, const struct candidate *advised)
{
    enum verdict v = e->c->judgement.verdict;
    if (!evidence_has_numbers(e) || v == VERDICT_SLOWER || v == VERDICT_SAME)
        return -1;
    bool is_advised = advised->best && !strcmp(e->c->config, advised->best->c->config);
    if (v == VERDICT_INCONCLUSIVE && e->c->effect.value < -log1p(e->c->bound))
        return 7 + evidence_gain_low(e);
    if (e->c->judgement.small < 0)
        return 5 + evidence_gain_low(e);
    return (is_advised && evidence_wins(e) ? 20 : 0) +
           (evidence_wins(e) ? 10 + evidence_gain_low(e) : evidence_gain_high(e));
}

static const struct evidence *best_of_step(const struct steps_evidence *s, size_t first,
                                           const struct candidate *advised)
{
    const struct evidence *best = NULL;
    for (size_t i = first; i < s->n; i++)
        if (s->v[i].counts && evidence_same_step(&s->v[i], &s->v[first]) &&
            rank(&s->v[i], advised) >= 0 &&
            (!best || rank(&s->v[i], advised) > rank(best, advised)))
            best = &s->v[i];
    return best;
}

/* What a row says of a step that no setting shortens. */
static const char *none_shorter(const struct steps_evidence *s, const struct evidence *step)
{
    int launches = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!s->v[i].counts || !evidence_same_step(&s->v[i], step))
            continue;
        if (evidence_has_numbers(&s->v[i]))
            return "nothing is shorter";
        launches = s->v[i].c->effect.launches > launches ? s->v[i].c->effect.launches : launches;
    }
    return launches == 1 ? "undecided: one launch" : "undecided: no interval";
}

static bool same_section(const struct evidence *a, const struct evidence *b)
{
    return a->run->shape == b->run->shape && contrasts_of_one_section(a->c, b->c);
}

/* A trial's "step_size=1169072128". */
static bool repeats_size(const char *part, int64_t bytes)
{
    const char *value = strchr(part, '=');
    return value && bytes && strtoll(value + 1, NULL, 10) == bytes;
}

/* The row of a step is that of its first evidence, which may have another label or parameters. */
static const struct evidence *row_of(const struct steps_evidence *s, const struct evidence *e)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].counts && evidence_same_step(&s->v[i], e))
            return &s->v[i];
    return e;
}

char *advice_step_name(const struct steps_evidence *s, const struct evidence *of)
{
    const struct evidence *e = row_of(s, of);
    struct axes axes = {0};
    struct text t = {0};
    AUTO_WORDS struct words parts = {0};
    char size[32];
    bool labels_differ = false;
    for (size_t i = 0; i < s->n; i++) {
        if (same_section(&s->v[i], e))
            axes_add(&axes, e->step, s->v[i].step);
        labels_differ = labels_differ || strcmp(s->v[i].c->label, e->c->label);
    }
    AUTO_FREE char *where = axes_where(&axes, "", e->step);
    if (labels_differ && *e->c->label)
        text_addf(&t, "%s ", e->c->label);
    text_add(&t, e->c->size_B ? units_short_size(size, sizeof size, (uint64_t)e->c->size_B)
                 : e->level == LEVEL_TRAINING ? "job"
                                              : "step");
    words_split(&parts, where, ' ');
    for (size_t i = 0; i < parts.n; i++)
        if (strcmp(parts.v[i], "-") && !repeats_size(parts.v[i], e->c->size_B))
            text_addf(&t, " %s", parts.v[i]);
    return t.s;
}

static char *undecided(const struct contrast *c)
{
    const struct judgement *j = &c->judgement;
    if (judgement_is_hopeless(j, &c->effect, c->bound))
        return xstrfmt("%sgive up: more launches would most likely show less than %.3g%%",
                       c->effect.hi < 0 ? "shorter, but " : "", 100 * c->bound);
    return j->needed > 0 ? xstrfmt("undecided: %lld more launch%s", (long long)j->needed,
                                   j->needed == 1 ? "" : "es")
                         : xstrdup("undecided");
}

static char *standing(const struct steps_evidence *s, const struct evidence *e)
{
    struct candidate c = candidate_of(s, e->run->shape, e->c->config, false);
    const struct judgement *j = &e->c->judgement;
    if (evidence_wins(e) && c.slower) {
        AUTO_FREE char *where = advice_step_name(s, c.slower);
        return xstrfmt("not advised: slower at %s", where);
    }
    if (evidence_wins(e))
        return xstrdup(e->level == LEVEL_SYNTHETIC ? "shorter: ask your own job" : "advised");
    if (e->effect == EFFECT_IGNORED || e->effect == EFFECT_CLAMPED)
        return xstrfmt("not advised: %s by NCCL", setting_effects[e->effect]);
    if (j->verdict == VERDICT_FASTER)
        return xstrfmt("not advised: the gain may be below %.3g%%", 100 * GAIN_LEAST);
    if (j->verdict == VERDICT_INCONCLUSIVE)
        return undecided(e->c);
    return xstrdup(*j->reason ? j->reason : "no difference");
}

static void add_row(struct words *cells, const struct steps_evidence *s, const struct evidence *of,
                    const struct evidence *e)
{
    char span[64];
    double open = evidence_left_open(s, of);
    AUTO_FREE char *name = advice_step_name(s, of),
                   *what = e ? standing(s, e) : xstrdup(none_shorter(s, of));
    words_add(cells, name);
    words_add(cells, e ? e->c->config : of->c->baseline);
    words_add(cells, e ? advice_span(span, sizeof span, evidence_gain_low(e), evidence_gain_high(e))
                       : "-");
    if (isnan(open))
        words_add(cells, "-");
    else
        words_addf(cells, "%.1f%%", 100 * open);
    words_add(cells, level_names[of->level]);
    words_add(cells, e && *e->c->baseline_ran ? e->c->baseline_ran : "-");
    words_add(cells, e && *e->c->ran ? e->c->ran : "-");
    words_add(cells, what);
}

void advice_rows(struct words *cells, const struct steps_evidence *s, size_t shape)
{
    struct candidate advised;
    advice_find(s, shape, &advised);
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].run->shape == shape && evidence_opens_step(s, i))
            add_row(cells, s, &s->v[i], best_of_step(s, i, &advised));
}
