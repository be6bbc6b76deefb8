/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/summary_rows.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void summary_rows_find(struct summary_rows *s, const struct summary_request *q)
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

void summary_rows_free(struct summary_rows *s)
{
    free(s->rows);
    free(s->questions);
    *s = (struct summary_rows){0};
}
