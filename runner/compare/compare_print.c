/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/compare_print.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/term.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/setting.h"
#include "reduce/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- filter ---- */

struct criterion {
    const char *option, *typed;
    const char *(*of)(const struct contrast *c, char *buf, size_t n);
    const char *value; /* typed, as `of` spells it */
};

static const char *size_of(const struct contrast *c, char *buf, size_t n)
{
    return units_size(buf, n, (uint64_t)c->size_B);
}

/* What has no mode is named by its level: an operation alone, a trial, a training. */
static const char *mode_of(const struct contrast *c, char *buf, size_t n)
{
    (void)buf, (void)n;
    return *c->mode ? c->mode : level_names[contrast_level(c)];
}

static const char *platform_of(const struct contrast *c, char *buf, size_t n)
{
    (void)buf, (void)n;
    return c->platform;
}

static const char *config_of(const struct contrast *c, char *buf, size_t n)
{
    (void)buf, (void)n;
    return c->config;
}

static int by_size(const void *a, const void *b)
{
    const struct contrast *x = a, *y = b;
    return (x->size_B > y->size_B) - (x->size_B < y->size_B);
}

/* The size with the smallest ratio to the one that was asked for; NULL: that is no size. */
static const char *nearest_size(const struct comparison *c, const char *asked, char *buf, size_t n)
{
    uint64_t bytes;
    double least = INFINITY;
    const char *near = NULL;
    for (size_t i = 0; units_parse_size(asked, &bytes) && i < c->n; i++) {
        double ratio = fabs(log((double)c->v[i].size_B / (double)bytes));
        if (ratio < least) {
            least = ratio;
            near = size_of(&c->v[i], buf, n);
        }
    }
    return near;
}

/* Reorders c. */
static int nothing(const struct criterion *q, struct comparison *c)
{
    char buf[64], size[64];
    AUTO_WORDS struct words values = {0};
    AUTO_TEXT struct text list = {0};
    if (q->of == size_of)
        qsort(c->v, c->n, sizeof *c->v, by_size);
    for (size_t i = 0; i < c->n; i++) {
        const char *value = q->of(&c->v[i], buf, sizeof buf);
        if (words_has(&values, value))
            continue;
        words_add(&values, value);
        text_addf(&list, "%s%s", list.len ? ", " : "", value);
    }
    const char *near = q->of == size_of ? nearest_size(c, q->typed, size, sizeof size) : NULL;
    near = near ? near : text_nearest(q->typed, (const char *const *)values.v, values.n);
    return fail(GS_USAGE, "compare: nothing matches --%s %s%s; choose %s", q->option, q->typed,
                DID_YOU_MEAN(near), list.len ? list.s : "nothing");
}

static int keep(const struct criterion *q, struct comparison *c)
{
    char buf[64];
    size_t kept = 0;
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(q->of(&c->v[i], buf, sizeof buf), q->value))
            c->v[kept++] = c->v[i];
    if (!kept)
        return nothing(q, c);
    c->n = kept;
    return GS_OK;
}

int compare_filter(const struct compare_filter *f, const struct comparison *c,
                   struct comparison *shown)
{
    char size[64];
    uint64_t bytes;
    const struct criterion all[] = {{"platform", f->platform, platform_of, f->platform},
                                    {"mode", f->mode, mode_of, f->mode},
                                    {"size", f->size, size_of, f->size},
                                    {"config", f->config, config_of, f->config}};
    *shown = (struct comparison){.v = xcalloc(c->n + 1, sizeof *c->v), .families = c->families};
    for (; shown->n < c->n; shown->n++)
        shown->v[shown->n] = c->v[shown->n];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct criterion q = all[i];
        if (!q.value)
            continue;
        if (q.of == size_of && units_parse_size(q.typed, &bytes))
            q.value = units_size(size, sizeof size, bytes);
        int code = shown->n ? keep(&q, shown) : GS_OK;
        if (code)
            return code;
    }
    return GS_OK;
}

/* ---- summary rows ----
 *
 * The lines of a summary, grouped by question and sorted.
 */

struct summary_row {
    const struct contrast
        *c;                 /* if the baseline is best in its family, the family's first contrast */
    const struct winner *w; /* NULL: a line for this contrast alone */
    size_t question;
};

struct question {
    const struct contrast *of; /* a contrast of the run and mode */
    /* settled: the baseline is confirmed best; small: shorter by less than the bound */
    size_t rows, faster, slower, settled, small, open;
    const struct contrast *largest; /* difference; NULL: none */
    const char *config;             /* of all its rows; NULL: they differ */
    struct axes axes;
};

struct summary_rows {
    struct summary_row *rows; /* by question; differences first, the largest first */
    size_t n;
    struct question *questions; /* the highest level of evidence first */
    size_t n_questions;
};

/* A difference that the row shows: of the best config, or of the contrast. */
static bool summary_row_differs(const struct summary_row *r)
{
    return r->w ? r->w->best != NULL : verdict_is_difference(r->c->judgement.verdict);
}

/* ---- questions ---- */

static size_t question_of(struct summary_rows *s, const struct contrast *c)
{
    for (size_t i = 0; i < s->n_questions; i++)
        if (contrasts_of_one_question(s->questions[i].of, c))
            return i;
    APPEND(s->questions, s->n_questions) = (struct question){.of = c};
    return s->n_questions - 1;
}

/* Inside a level, the whole step says most about a training. */
static int mode_rank(const char *mode)
{
    static const char *const order[] = {"overlapped", "sequential", "", "comm"};
    int i = 0, n = sizeof order / sizeof *order;
    while (i < n && strcmp(order[i], mode))
        i++;
    return i;
}

static int by_rank(const void *a, const void *b)
{
    const struct contrast *x = *(const struct contrast *const *)a,
                          *y = *(const struct contrast *const *)b;
    enum level l = contrast_level(x), m = contrast_level(y);
    int p = mode_rank(x->mode), q = mode_rank(y->mode);
    return l != m ? (l > m ? -1 : 1) : p != q ? p - q : (x > y) - (x < y);
}

/* Creates the questions in their order. */
static void order_questions(struct summary_rows *s, const struct comparison *c)
{
    AUTO_FREE const struct contrast **sorted = xcalloc(c->n + 1, sizeof *sorted);
    for (size_t i = 0; i < c->n; i++)
        sorted[i] = &c->v[i];
    qsort(sorted, c->n, sizeof *sorted, by_rank);
    for (size_t i = 0; i < c->n; i++) {
        size_t at = question_of(s, sorted[i]); /* may move the questions */
        axes_config(&s->questions[at].axes, sorted[i]->baseline, "");
        axes_config(&s->questions[at].axes, sorted[i]->config, sorted[i]->params);
    }
    for (size_t i = 0; i < c->n; i++) {
        struct question *q = &s->questions[question_of(s, sorted[i])];
        axes_add(&q->axes, q->of->params, sorted[i]->params);
    }
}

/* ---- rows ---- */

static void count(struct question *q, const struct summary_row *r)
{
    const struct contrast *c = r->c;
    bool differs = summary_row_differs(r);
    q->config = !q->rows                                     ? c->config
                : q->config && !strcmp(q->config, c->config) ? q->config
                                                             : NULL;
    q->rows++;
    q->faster += differs && c->judgement.verdict == VERDICT_FASTER;
    q->slower += differs && c->judgement.verdict == VERDICT_SLOWER;
    q->settled += r->w && winner_is_confirmed(r->w);
    q->small += r->w ? r->w->small != NULL : c->judgement.small < 0;
    q->open += r->w ? !differs && !r->w->small && !winner_is_confirmed(r->w)
                    : c->judgement.verdict == VERDICT_INCONCLUSIVE;
    if (differs && (!q->largest || fabs(c->effect.value) > fabs(q->largest->effect.value)))
        q->largest = c;
}

static void add(struct summary_rows *s, struct summary_row r)
{
    r.question = question_of(s, r.c);
    count(&s->questions[r.question], &r);
    s->rows[s->n++] = r;
}

static bool is_shown(const struct comparison *shown, const struct winner *w)
{
    for (size_t i = 0; i < shown->n; i++)
        if (shown->v[i].family == w->first->family)
            return true;
    return false;
}

static double weight(const struct summary_row *r)
{
    return summary_row_differs(r) ? fabs(r->c->effect.value) : -1;
}

static int by_weight(const void *a, const void *b)
{
    const struct summary_row *x = a, *y = b;
    double p = weight(x), q = weight(y);
    if (x->question != y->question)
        return x->question < y->question ? -1 : 1;
    return p != q ? (p > q ? -1 : 1) : (x->c > y->c) - (x->c < y->c);
}

static void summary_rows_find(struct summary_rows *s, const struct summary_request *q)
{
    size_t most = q->winners ? q->winners->n : q->shown->n;
    *s = (struct summary_rows){.rows = xcalloc(most + 1, sizeof *s->rows)};
    order_questions(s, q->shown);
    for (size_t i = 0; i < most; i++) {
        const struct winner *w = q->winners ? &q->winners->v[i] : NULL;
        if (!w)
            add(s, (struct summary_row){.c = &q->shown->v[i]});
        else if (is_shown(q->shown, w))
            add(s, (struct summary_row){.c = w->best    ? w->best
                                             : w->small ? w->small
                                                        : w->first,
                                        .w = w});
    }
    qsort(s->rows, s->n, sizeof *s->rows, by_weight);
}

static void summary_rows_free(struct summary_rows *s)
{
    free(s->rows);
    free(s->questions);
    *s = (struct summary_rows){0};
}

/* ---- summary table ---- */

/* ---- sentences ---- */

/* The platform stands where it changes, the run where several answer the same question. */
static void add_name(struct text *t, const struct summary_rows *s, size_t at)
{
    const struct contrast *c = s->questions[at].of;
    bool twins = false;
    for (size_t i = 0; i < s->n_questions; i++)
        twins = twins || (i != at && contrasts_of_one_section(s->questions[i].of, c) &&
                          !strcmp(s->questions[i].of->mode, c->mode));
    if (!at || strcmp(s->questions[at - 1].of->platform, c->platform))
        text_addf(t, "%s ", c->platform);
    text_addf(t, "%s%s%s%s%s, %s%s%s: ", c->workload, *c->label ? " " : "", c->label,
              *c->mode ? " " : "", c->mode, level_names[contrast_level(c)], twins ? " " : "",
              twins ? c->run_id : "");
}

static void say_best(struct text *t, const struct summary_request *r, const struct question *q)
{
    const char *noun = contrast_level(q->of) > LEVEL_ALONE ? "steps" : "groups";
    AUTO_FREE char *base =
        r->best_of ? xstrfmt("best of %s", r->best_of) : xstrdup(q->of->baseline);
    if (q->faster)
        text_addf(t, "a config beats %s in %zu of %zu %s, %s by %.1f%%", base, q->faster, q->rows,
                  noun, q->largest->config, -100 * expm1(q->largest->effect.value));
    else
        text_addf(t, "%s is beaten in 0 of %zu %s", base, q->rows, noun);
    if (q->small)
        text_addf(t, ", by less than %.3g%% in %zu", 100 * q->of->bound, q->small);
    if (!q->faster)
        text_addf(t, ", confirmed best in %zu, undecided in %zu", q->settled, q->open);
}

static void say_each(struct text *t, const struct question *q)
{
    const char *base = q->of->baseline;
    size_t alike = q->rows - q->slower - q->faster - q->open;
    AUTO_FREE char *small = q->small ? xstrfmt(" (%zu of them shorter by less than %.3g%%)",
                                               q->small, 100 * q->of->bound)
                                     : xstrdup("");
    if (q->config)
        text_addf(t,
                  "%s is slower than %s in %zu of %zu, faster in %zu, equivalent in %zu%s, "
                  "undecided in %zu",
                  q->config, base, q->slower, q->rows, q->faster, alike, small, q->open);
    else
        text_addf(t, "%zu of %zu slower than %s, %zu faster, %zu equivalent%s, %zu undecided",
                  q->slower, q->rows, base, q->faster, alike, small, q->open);
}

static struct text sentence(const struct summary_request *r, const struct summary_rows *s,
                            size_t at)
{
    struct text t = {0};
    const struct question *q = &s->questions[at];
    add_name(&t, s, at);
    if (r->winners)
        say_best(&t, r, q);
    else
        say_each(&t, q);
    return t;
}

static void print_sentence(const struct summary_request *r, const struct summary_rows *s, size_t at)
{
    AUTO_TEXT struct text t = sentence(r, s, at);
    printf("%s", term_bold(stdout));
    screen_wrap(0, 2, screen_columns(stdout), t.s);
    printf("%s", term_end(stdout));
}

/* ---- lines ---- */

static const char *const of_best[] = {"  where", "fastest", "change [95%]",
                                      "A/A",     "verdict", "slower"};
static const char *const of_each[] = {"  where", "config",  "change [95%]",
                                      "A/A",     "verdict", "note"};

/* "-15.3% [-16.0, -14.5]" */
static const char *change(const struct contrast *c, char *buf, size_t n)
{
    const struct effect *e = &c->effect;
    if (isnan(e->value))
        snprintf(buf, n, "-");
    else
        snprintf(buf, n, "%+.1f%% [%+.1f, %+.1f]", 100 * expm1(e->value), 100 * expm1(e->lo),
                 100 * expm1(e->hi));
    return buf;
}

static const char *verdict_of(const struct summary_row *r)
{
    if (r->w && !r->w->best)
        return r->w->small ? "small" : winner_is_confirmed(r->w) ? "confirmed" : "undecided";
    enum verdict v = r->c->judgement.verdict;
    return v == VERDICT_INCONCLUSIVE ? "undecided" : v == VERDICT_SAME ? "same" : verdict_names[v];
}

/* How many of the other configs were shown to be slower; --all has their names. */
static void add_slower_or_note(struct words *cells, const struct summary_row *r)
{
    const char *why = r->c->judgement.reason;
    if (r->w)
        words_addf(cells, "%zu/%zu", r->w->counts[VERDICT_SLOWER], r->w->rivals);
    else
        words_addf(cells, "%s%s%s", why, *why && r->c->note ? "; " : "",
                   r->c->note ? r->c->note : "");
}

static void add_cells(struct words *cells, const struct summary_rows *s,
                      const struct summary_row *r)
{
    char buf[96];
    const struct contrast *c = r->c;
    AUTO_FREE char *where = axes_where(&s->questions[r->question].axes, "", c->params);
    bool placed = strcmp(where, "-") != 0;
    const char *size = c->size_B ? SHORT_SIZE(c->size_B) : "";
    words_addf(cells, "  %s%s%s", size, *size && placed ? " " : "", placed || !*size ? where : "");
    words_add(cells, r->w ? winner_shown(r->w) : c->config);
    words_add(cells, r->w && !r->w->best && !r->w->small ? "-" : change(c, buf, sizeof buf));
    if (isnan(c->floor))
        words_add(cells, c->no_floor ? "no floor" : "-");
    else
        words_addf(cells, "%.1f%%", 100 * expm1(c->floor));
    words_add(cells, verdict_of(r));
    add_slower_or_note(cells, r);
}

static void print_question(const struct summary_rows *s, const struct question *q,
                           const struct summary_row *rows)
{
    const char *const *titles = rows->w ? of_best : of_each;
    size_t columns = COUNT(of_best);
    _Static_assert(COUNT(of_best) == COUNT(of_each), "one number of columns");
    AUTO_WORDS struct words cells = {0};
    for (size_t k = 0; k < columns; k++)
        words_add(&cells, titles[k]);
    for (size_t k = 0; k < q->rows; k++)
        add_cells(&cells, s, &rows[k]);
    text_table_print(&cells, columns, 1, NULL);
}

/* A config wins in a step: it may lengthen another. */
static const struct question *winning_step(const struct summary_rows *s)
{
    for (size_t i = 0; i < s->n_questions; i++)
        if (s->questions[i].faster && contrast_level(s->questions[i].of) > LEVEL_ALONE)
            return &s->questions[i];
    return NULL;
}

void summary_print(const struct summary_request *q)
{
    AUTO(summary_rows_free) struct summary_rows s = {0};
    summary_rows_find(&s, q);
    for (size_t i = 0, first = 0; i < s.n_questions; first += s.questions[i++].rows) {
        print_sentence(q, &s, i);
        print_question(&s, &s.questions[i], &s.rows[first]);
    }
    if (s.n < q->shown->n)
        printf("--all prints every contrast; --size, --mode, --config choose\n");
    const struct question *won = winning_step(&s);
    if (q->winners && won)
        printf("What to set: gradsync advise %s\n", won->of->platform);
}

/* ---- compare json ---- */

static json_t *percent(double log_ratio)
{
    return json_finite(100 * expm1(log_ratio));
}

static void name(json_t *o, const struct contrast *c)
{
    const struct {
        const char *key, *value;
    } texts[] = {{"platform", c->platform},
                 {"workload", c->workload},
                 {"label", c->label},
                 {"run_id", c->run_id},
                 {"mode", c->mode},
                 {"baseline", c->baseline},
                 {"level", level_names[contrast_level(c)]}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        json_object_set_new(o, texts[i].key, json_text(texts[i].value));
    json_object_set_new(o, "size_bytes", json_integer(c->size_B));
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
    static const char *const small[] = {"shorter", "", "longer"};
    json_t *o = json_object();
    name(o, c);
    json_object_set_new(o, "config", json_text(c->config));
    json_object_set_new(o, "params", json_text(c->params));
    effect(o, c);
    json_object_set_new(o, "floor_percent", percent(c->floor));
    json_object_set_new(o, "p_holm", json_finite(c->p_holm));
    json_object_set_new(o, "launches", json_integer(c->effect.launches));
    json_object_set_new(o, "launches_needed",
                        c->judgement.needed >= 0 ? json_integer(c->judgement.needed) : json_null());
    json_object_set_new(o, "verdict", json_text(verdict_names[c->judgement.verdict]));
    json_object_set_new(o, "small_effect", json_text(small[1 + c->judgement.small]));
    json_object_set_new(o, "measured_verdict", json_text(verdict_names[c->measured]));
    json_object_set_new(o, "reason",
                        json_text(*c->judgement.reason ? c->judgement.reason
                                  : c->note            ? c->note
                                                       : ""));
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
    json_t *o = json_object(), *alike = json_array();
    const struct contrast *shown = w->best ? w->best : w->small;
    name(o, w->first);
    json_object_set_new(o, "params", json_text(w->first->params));
    json_object_set_new(o, "fastest", json_text(shown ? shown->config : winner_config(w)));
    json_object_set_new(o, "verdict",
                        json_text(w->best                  ? verdict_names[VERDICT_FASTER]
                                  : w->small               ? "small"
                                  : winner_is_confirmed(w) ? "confirmed"
                                                           : "undecided"));
    environment(o, w->best);
    effect(o, shown);
    json_object_set_new(o, "floor_percent", percent((shown ? shown : w->first)->floor));
    json_object_set_new(o, "rivals", json_integer((json_int_t)w->rivals));
    json_object_set_new(o, "rivals_slower", json_integer((json_int_t)w->counts[VERDICT_SLOWER]));
    for (size_t i = 0; i < w->alike.n; i++)
        json_array_append_new(alike, json_text(w->alike.v[i]));
    json_object_set_new(o, "not_distinguishable_from", alike);
    return o;
}

static bool has(const struct comparison *c, size_t family)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].family == family)
            return true;
    return false;
}

void comparison_print_json(const struct comparison *c, const struct winners *w)
{
    json_t *groups = json_array(), *contrasts = json_array();
    for (size_t i = 0; i < w->n; i++)
        if (has(c, w->v[i].first->family))
            json_array_append_new(groups, group(&w->v[i]));
    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(contrasts, contrast(&c->v[i]));
    AUTO_JSON json_t *o = json_pack("{ss, so, so}", "schema", "gradsync-compare-1", "groups",
                                    groups, "contrasts", contrasts);
    json_print(o, JSON_INDENT(1));
}
