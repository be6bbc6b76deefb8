/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/repeatability.h"

#include "base/csv_params.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which are alike ---- */

static int by_question(const struct contrast *a, const struct contrast *b)
{
    const char *const x[] = {a->platform, a->workload, a->label, a->mode,
                             a->params,   a->baseline, a->config};
    const char *const y[] = {b->platform, b->workload, b->label, b->mode,
                             b->params,   b->baseline, b->config};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        int order = strcmp(x[i], y[i]);
        if (order)
            return order;
    }
    return (a->size_B > b->size_B) - (a->size_B < b->size_B);
}

/* Names of runs begin with their time. */
static int by_question_and_run(const void *a, const void *b)
{
    const struct contrast *x = *(const struct contrast *const *)a,
                          *y = *(const struct contrast *const *)b;
    int order = by_question(x, y);
    return order ? order : strcmp(x->run_id, y->run_id);
}

bool contrast_has_twin(const struct comparison *c, const struct contrast *one)
{
    for (size_t i = 0; i < c->n; i++)
        if (contrasts_of_one_section(&c->v[i], one) && strcmp(c->v[i].run_id, one->run_id) != 0)
            return true;
    return false;
}

/* By the pair of runs, then in the order of the comparison. */
static int by_place(const void *a, const void *b)
{
    const struct repeat *x = a, *y = b;
    const struct contrast *c = x->later, *d = y->later;
    const char *const u[] = {c->platform, c->workload, c->label, c->run_id, x->earlier->run_id};
    const char *const v[] = {d->platform, d->workload, d->label, d->run_id, y->earlier->run_id};
    for (size_t i = 0; i < sizeof u / sizeof *u; i++) {
        int order = strcmp(u[i], v[i]);
        if (order)
            return order;
    }
    return (c > d) - (c < d);
}

static bool has_numbers(const struct contrast *c)
{
    return isfinite(c->effect.value) && isfinite(c->effect.lo) && isfinite(c->effect.hi);
}

/* Is v[i] the only contrast of its question in its run? */
static bool single(const struct contrast *const *v, size_t n, size_t i)
{
    return (i == 0 || by_question_and_run(&v[i - 1], &v[i]) != 0) &&
           (i + 1 == n || by_question_and_run(&v[i], &v[i + 1]) != 0);
}

void repeats_find(struct repeats *r, const struct comparison *c)
{
    AUTO_FREE const struct contrast **v = xcalloc(c->n + 1, sizeof *v);
    for (size_t i = 0; i < c->n; i++)
        v[i] = &c->v[i];
    qsort(v, c->n, sizeof *v, by_question_and_run);
    *r = (struct repeats){.of = c, .v = xcalloc(c->n + 1, sizeof *r->v)};
    const struct contrast *last = NULL; /* the last that is single and has numbers */
    for (size_t i = 0; i < c->n; i++) {
        if (!single(v, c->n, i) || !has_numbers(v[i]))
            continue;
        if (last && !by_question(last, v[i]))
            r->v[r->n++] = (struct repeat){last, v[i]};
        last = v[i];
    }
    qsort(r->v, r->n, sizeof *r->v, by_place);
}

void repeats_free(struct repeats *r)
{
    free(r->v);
    *r = (struct repeats){0};
}

/* ---- whether they agree ---- */

enum verdict repeat_earlier(const struct repeat *r)
{
    const struct contrast *c = r->earlier;
    if (c->judgement.verdict == VERDICT_SAME)
        return VERDICT_SAME;
    return judge_effect(&c->effect, r->later->bound, contrast_floor(c), c->p_holm).verdict;
}

enum agreement repeat_agreement(const struct repeat *r)
{
    enum verdict a = repeat_earlier(r), b = r->later->judgement.verdict;
    if (a == VERDICT_SAME || b == VERDICT_SAME)
        return AGREEMENT_OPERATION;
    if (a == VERDICT_INCONCLUSIVE || b == VERDICT_INCONCLUSIVE)
        return AGREEMENT_OPEN;
    if (a == b)
        return AGREEMENT_SAME;
    return a == VERDICT_EQUIVALENT || b == VERDICT_EQUIVALENT ? AGREEMENT_DIFFERENT
                                                              : AGREEMENT_CONTRARY;
}

bool repeat_overlaps(const struct repeat *r)
{
    return r->earlier->effect.lo <= r->later->effect.hi &&
           r->later->effect.lo <= r->earlier->effect.hi;
}

/* ---- as a table ---- */

const char again_columns[] = "earlier_run_id,earlier_launches,earlier_ratio,earlier_ratio_low,"
                             "earlier_ratio_high,earlier_verdict,agreement,overlap";

int repeats_write(const struct repeats *r, const char *dir)
{
    static const char *const agreements[AGREEMENTS] = {"same", "same operation", "open",
                                                       "different", "contrary"};
    struct csv csv;
    AUTO_FREE char *path = xstrfmt("%s/%s", dir, AGAIN_CSV);
    AUTO_FREE char *columns = xstrfmt("%s,%s", compare_columns, again_columns);
    int code = csv_open(&csv, path);
    if (!code) {
        csv_params_header(&csv, columns);
        for (size_t i = 0; i < r->n; i++) {
            const struct contrast *first = r->v[i].earlier;
            contrast_row(&csv, r->v[i].later);
            csv_text(&csv, first->run_id);
            csv_integer(&csv, first->effect.launches);
            CSV_REALS(&csv, exp(first->effect.value), exp(first->effect.lo), exp(first->effect.hi));
            CSV_TEXTS(&csv, verdict_names[repeat_earlier(&r->v[i])],
                      agreements[repeat_agreement(&r->v[i])],
                      repeat_overlaps(&r->v[i]) ? "yes" : "no");
            csv_end(&csv);
        }
        code = csv_close(&csv, true);
    }
    return code;
}
