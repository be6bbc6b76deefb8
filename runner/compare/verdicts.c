/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/verdicts.h"

#include "base/csv.h"
#include "base/err.h"
#include "base/stats.h"
#include "record/recorded.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- contrasts ---- */

struct contrast *comparison_append(struct comparison *c)
{
    struct contrast *one = &APPEND(c->v, c->n);
    *one = (struct contrast){0};
    return one;
}

struct contrast *comparison_add(struct comparison *c, const struct recorded *r,
                                const struct rec_cell *cell, const char *baseline)
{
    struct contrast *one = comparison_append(c);
    *one = (struct contrast){
        .platform = xstrdup(r->platform),
        .workload = xstrdup(r->workload),
        .label = xstrdup(r->label),
        .run_id = xstrdup(r->run_id),
        .mode = xstrdup(cell->mode),
        .params = xstrdup(cell->params),
        .baseline = xstrdup(baseline),
        .config = xstrdup(cell->config),
        .ran = xstrdup(cell->ran),
        .baseline_ran = xstrdup(""),
        .size_B = cell->size_B,
        .seed = r->seed,
        .stream = strtoull(cell->id, NULL, 16),
    };
    return one;
}

void contrast_differs(struct contrast *c, const struct rec_cell *cell,
                      const struct rec_cell *baseline)
{
    for (size_t i = 0; i + 1 < cell->values.n; i += 2) {
        bool same = false;
        for (size_t k = 0; k + 1 < baseline->values.n && !same; k += 2)
            same = !strcmp(baseline->values.v[k], cell->values.v[i]) &&
                   !strcmp(baseline->values.v[k + 1], cell->values.v[i + 1]);
        if (same)
            continue;
        words_add(&c->differs, cell->values.v[i]);
        words_add(&c->differs, cell->values.v[i + 1]);
    }
}

void note_add(char **note, const char *fmt, ...)
{
    char buf[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(buf, sizeof buf, fmt, args);
    va_end(args);
    char *whole = xstrfmt("%s%s%s", *note ? *note : "", *note ? "; " : "", buf);
    free(*note);
    *note = whole;
}

bool contrasts_of_one_section(const struct contrast *a, const struct contrast *b)
{
    return !strcmp(a->platform, b->platform) && !strcmp(a->workload, b->workload) &&
           !strcmp(a->label, b->label);
}

bool contrasts_of_one_question(const struct contrast *a, const struct contrast *b)
{
    return !strcmp(a->mode, b->mode) && !strcmp(a->run_id, b->run_id) &&
           contrasts_of_one_section(a, b);
}

enum level contrast_level(const struct contrast *c)
{
    return level_is_price(c->workload, c->label, c->config)
               ? LEVEL_PRICE
               : level_of(c->workload, c->mode, c->params);
}

char *contrast_reason(const struct contrast *c)
{
    const char *why = c->judgement.reason, *note = c->note ? c->note : "";
    return xstrfmt("%s%s%s", why, *why && *note ? "; " : "", note);
}

bool comparison_has_family(const struct comparison *c, size_t family)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].family == family)
            return true;
    return false;
}

struct values values_copy(const struct values *from)
{
    struct values to = {0};
    for (size_t i = 0; i < from->n; i++)
        APPEND(to.v, to.n) = from->v[i];
    return to;
}

void comparison_free(struct comparison *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct contrast *one = &c->v[i];
        char *const texts[] = {one->platform, one->workload, one->label,    one->run_id,
                               one->mode,     one->params,   one->baseline, one->config,
                               one->note,     one->origin,   one->ran,      one->baseline_ran};
        for (size_t k = 0; k < COUNT(texts); k++)
            free(texts[k]);
        words_free(&one->differs);
        free(one->x.v);
        free(one->y.v);
        free(one->aa.v);
        free(one->bb.v);
    }
    free(c->v);
    *c = (struct comparison){0};
}

/* ---- solving ---- */

struct pool {
    struct comparison *c;
    atomic_size_t next;
};

static double floor_of(const struct values *copies)
{
    return copies->n ? fabs(stats_launch_mean(copies->v, copies->n)) : NAN;
}

static void solve_one(struct contrast *c, bool with_aa)
{
    struct rng rng;
    rng_stream(&rng, c->seed, c->stream);
    c->effect = c->kind == CONTRAST_UNPAIRED
                    ? effect_unpaired(c->x.v, c->x.n, c->y.v, c->y.n, CONTRAST_DRAWS, &rng)
                    : effect_paired(c->x.v, c->x.n, CONTRAST_DRAWS, &rng);
    c->floor = floor_of(&c->aa) + (c->kind == CONTRAST_UNPAIRED ? floor_of(&c->bb) : 0);
    /* A difference within the bound is none, whatever its interval: no bootstrap is needed. */
    if (with_aa && c->first && c->aa.n && floor_of(&c->aa) > 0.999 * log1p(c->bound)) {
        struct effect aa = effect_paired(c->aa.v, c->aa.n, CONTRAST_DRAWS, &rng);
        struct judgement j = judge_effect(&aa, c->bound, 0, judgement_p(&aa, 1));
        c->aa_called = verdict_is_difference(j.verdict);
    }
}

static void *work(void *arg)
{
    struct pool *p = arg;
    for (size_t i; (i = atomic_fetch_add(&p->next, 1)) < p->c->n;)
        solve_one(&p->c->v[i], !p->c->without_aa);
    return NULL;
}

/* Fewer threads are enough if one cannot be started. */
static void solve_all(struct comparison *c, long threads)
{
    enum { MOST = 64 };
    struct pool pool = {.c = c};
    pthread_t ids[MOST];
    long started = 0, wanted = threads ? threads : sysconf(_SC_NPROCESSORS_ONLN);
    while (started < wanted - 1 && started < MOST &&
           !pthread_create(&ids[started], NULL, work, &pool))
        started++;
    work(&pool);
    for (long i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
}

/* Adjusts the p of a family over the contrasts that have one. */
static void adjust_family(struct contrast **members, size_t n)
{
    AUTO_FREE double *p = xmalloc(n * sizeof *p);
    size_t tested = 0;
    for (size_t i = 0; i < n; i++)
        tested += isnan(members[i]->effect.p_interval) ? 0 : 1;
    for (size_t i = 0; i < n; i++)
        p[i] =
            isnan(members[i]->effect.p_interval) ? NAN : judgement_p(&members[i]->effect, tested);
    for (size_t i = 0; i < n; i++)
        members[i]->effect.p_tested = p[i];
    contrast_holm(p, n);
    for (size_t i = 0; i < n; i++) {
        members[i]->p_holm = p[i];
        members[i]->permuted = judgement_permutes(&members[i]->effect, tested);
    }
}

/* The members of a family need not be consecutive: the modes of a group alternate. */
static int by_family(const void *a, const void *b)
{
    const struct contrast *x = *(struct contrast *const *)a, *y = *(struct contrast *const *)b;
    return x->family != y->family ? (x->family > y->family) - (x->family < y->family)
                                  : (x > y) - (x < y);
}

static void judge_one(struct contrast *c)
{
    double floor =
        isnan(c->floor) && c->no_floor ? 0 : c->floor; /* NaN: it needs one and has none */
    c->judgement = judge_effect(&c->effect, c->bound, floor, c->p_holm);
    if (c->effect.launches == 0 && c->note) /* the note says more */
        c->judgement.reason[0] = '\0';
    c->measured = c->judgement.verdict;
    if (!c->effect.launches || !c->same_operation)
        return;
    c->judgement = (struct judgement){.verdict = VERDICT_SAME};
    snprintf(c->judgement.reason, sizeof c->judgement.reason, "both ran %s", c->ran);
}

/* ---- the placebo's floor ---- */

/* Where more than 5% of the contrasts without a difference are called one, communicators differ in a way
 * that lasts over the launches, and no interval has it. A verdict must then exceed what such contrasts
 * reach: their 95th percentile. Of the all-reduce alone; in steps no such excess was seen. */
#define PLACEBO_LEAST 20
#define PLACEBO_RATE 0.05
#define PLACEBO_QUANTILE 0.95

static void raise_floor(struct comparison *c, struct contrast *first, size_t end)
{
    AUTO_FREE double *size = xmalloc((c->n + 1) * sizeof *size);
    size_t n = 0, called = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct contrast *one = &c->v[i];
        if (one->judgement.verdict != VERDICT_SAME || one->effect.launches < 2 ||
            !contrasts_of_one_question(one, first))
            continue;
        size[n++] = fabs(one->effect.value);
        called += verdict_is_difference(one->measured);
    }
    if (n < PLACEBO_LEAST || (double)called <= PLACEBO_RATE * (double)n)
        return;
    double floor = stats_quantile_of(size, n, PLACEBO_QUANTILE);
    for (size_t i = end; i < c->n; i++) {
        struct contrast *one = &c->v[i];
        if (!contrasts_of_one_question(one, first) || one->judgement.verdict == VERDICT_SAME ||
            contrast_level(one) != LEVEL_ALONE || isnan(one->floor) || one->floor >= floor)
            continue;
        one->floor = floor;
        note_add(&one->note, "floor: placebo, %zu of %zu differ", called, n);
        judge_one(one);
    }
}

void comparison_solve(struct comparison *c, long threads)
{
    AUTO_FREE struct contrast **sorted = xmalloc((c->n + 1) * sizeof *sorted);
    for (size_t i = 0; i < c->n; i++)
        sorted[i] = &c->v[i];
    qsort(sorted, c->n, sizeof *sorted, by_family);
    for (size_t i = 0; i < c->n; i++)
        sorted[i]->first = !i || sorted[i]->family != sorted[i - 1]->family;
    solve_all(c, threads);
    for (size_t i = 0, end; i < c->n; i = end) {
        for (end = i; end < c->n && sorted[end]->family == sorted[i]->family; end++)
            ;
        adjust_family(sorted + i, end - i);
    }
    for (size_t i = 0; i < c->n; i++)
        judge_one(&c->v[i]);
    /* Contrasts between rivals belong to no single run. */
    for (size_t i = 0; i < c->n && c->v[0].platform; i++) {
        size_t k = 0;
        while (k < i && !contrasts_of_one_question(&c->v[k], &c->v[i]))
            k++;
        if (k == i && c->v[i].kind != CONTRAST_UNPAIRED)
            raise_floor(c, &c->v[i], i);
    }
}

/* ---- winner ---- */

/* Is it the baseline, with no rival that is or may be faster, by however little? */
static bool is_confirmed(const struct winner *w)
{
    return !w->best && !w->small && !w->counts[VERDICT_INCONCLUSIVE];
}

const char *winner_shown(const struct winner *w)
{
    return w->best           ? w->best->config
           : is_confirmed(w) ? w->first->baseline
           : w->small        ? w->small->config
                             : "-";
}

const char *winner_verdict(const struct winner *w)
{
    return w->best           ? verdict_names[VERDICT_FASTER]
           : w->small        ? "small"
           : is_confirmed(w) ? "confirmed"
                             : verdict_names[VERDICT_INCONCLUSIVE];
}

/* ---- the best of a family ---- */

static void find_best(struct winners *w, const struct comparison *c, size_t *of_family)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct contrast *one = &c->v[i];
        if (!of_family[one->family]) {
            w->v[w->n] = (struct winner){.first = one};
            of_family[one->family] = ++w->n;
        }
        struct winner *x = &w->v[of_family[one->family] - 1];
        if (one->judgement.verdict == VERDICT_FASTER &&
            (!x->best || one->effect.value < x->best->effect.value))
            x->best = one;
        if (one->judgement.small < 0 && (!x->small || one->effect.value < x->small->effect.value))
            x->small = one;
    }
    for (size_t i = 0; i < w->n; i++)
        if (w->v[i].best)
            w->v[i].small = NULL;
}

/* ---- its rivals ---- */

/* log(rival / best) in the blocks that both share with the baseline. Both are in the order of the
 * recording. */
static struct values relative(const struct values *rival, const struct values *best)
{
    struct values out = {0};
    for (size_t i = 0, k = 0; i < rival->n; i++) {
        const struct nested *x = &rival->v[i];
        while (k < best->n && (best->v[k].launch < x->launch ||
                               (best->v[k].launch == x->launch && best->v[k].block < x->block)))
            k++;
        if (k < best->n && best->v[k].launch == x->launch && best->v[k].block == x->block)
            APPEND(out.v, out.n) =
                (struct nested){x->launch, x->value - best->v[k].value, x->block};
    }
    return out;
}

static void add_rival(struct comparison *rivals, const struct contrast *rival,
                      const struct contrast *best)
{
    bool paired = rival->kind == CONTRAST_PAIRED;
    struct contrast *one = comparison_append(rivals);
    *one = (struct contrast){
        .kind = rival->kind,
        .config = xstrdup(rival->config),
        .ran = xstrdup(rival->ran),
        .same_operation =
            paired && recorded_same_operation(rival->ran, rival->params, best->ran, best->params),
        .seed = rival->seed,
        .stream = ~rival->stream,
        .family = rival->family,
        .bound = rival->bound,
        .no_floor = rival->no_floor};
    one->x = paired ? relative(&rival->x, &best->x) : values_copy(&best->y);
    one->y = paired ? (struct values){0} : values_copy(&rival->y);
    one->aa = values_copy(&rival->aa);
    one->bb = values_copy(&rival->bb);
}

static void winner_count(struct winner *w, const struct contrast *rival)
{
    w->rivals++;
    w->counts[rival->judgement.verdict]++;
}

/* Contrasts against the baseline count as they are; the others are computed here. */
static void judge_rivals(struct winners *w, const struct comparison *c, const size_t *of_family,
                         long threads)
{
    AUTO(comparison_free) struct comparison rivals = {.families = c->families, .without_aa = true};
    for (size_t i = 0; i < c->n; i++) {
        const struct contrast *one = &c->v[i];
        struct winner *x = &w->v[of_family[one->family] - 1];
        if (!x->best)
            winner_count(x, one);
        else if (one != x->best)
            add_rival(&rivals, one, x->best);
    }
    comparison_solve(&rivals, threads);
    for (size_t i = 0; i < rivals.n; i++)
        winner_count(&w->v[of_family[rivals.v[i].family] - 1], &rivals.v[i]);
}

void winners_find(struct winners *w, const struct comparison *c, long threads)
{
    size_t most = c->families;
    for (size_t i = 0; i < c->n; i++)
        most = c->v[i].family > most ? c->v[i].family : most;
    AUTO_FREE size_t *of_family = xcalloc(most + 1, sizeof *of_family);
    *w = (struct winners){.v = xcalloc(c->n + 1, sizeof *w->v)};
    find_best(w, c, of_family);
    judge_rivals(w, c, of_family, threads);
    for (size_t i = 0; i < w->n; i++)
        if (w->v[i].best) { /* the baseline is slower */
            w->v[i].rivals++;
            w->v[i].counts[VERDICT_SLOWER]++;
        }
}

void winners_free(struct winners *w)
{
    free(w->v);
    *w = (struct winners){0};
}

/* ---- compare csv ---- */

const char compare_columns[] = COMPARE_COLUMNS;

/* Which tests p_holm adjusts. */
static const char holm_of_interval[] = "interval", holm_of_both[] = "both";

/* ---- written ---- */

void contrast_row(struct csv *csv, const struct contrast *c)
{
    const struct effect *e = &c->effect;
    CSV_TEXTS(csv, c->platform, c->workload, c->label, c->run_id, c->mode);
    csv_integer(csv, c->size_B);
    CSV_TEXTS(csv, c->params, c->baseline, c->config);
    csv_integer(csv, e->launches);
    csv_integer(csv, (int64_t)e->blocks);
    CSV_REALS(csv, exp(e->value), exp(e->lo), exp(e->hi), e->p_permutation, e->p_interval,
              c->p_holm);
    csv_text(csv, isnan(c->p_holm) ? "" : c->permuted ? holm_of_both : holm_of_interval);
    csv_real(csv, expm1(c->floor));
    csv_real(csv, c->bound);
    csv_text(csv, verdict_names[c->judgement.verdict]);
    if (c->judgement.needed >= 0)
        csv_integer(csv, c->judgement.needed);
    else
        csv_text(csv, "");
    AUTO_FREE char *reason = contrast_reason(c);
    CSV_TEXTS(csv, reason, verdict_names[c->measured], c->baseline_ran, c->ran,
              level_names[contrast_level(c)],
              c->judgement.small < 0   ? "shorter"
              : c->judgement.small > 0 ? "longer"
                                       : "");
}

/* ---- counting ---- */

struct placebo {
    const struct contrast *of; /* a contrast of the run and mode */
    size_t contrasts, called, aa, aa_called;
};

/* A row for each run and mode of a solved comparison, which must outlive them; *n rows. The caller
 * frees them. */
static struct placebo *placebo_rows(const struct comparison *c, size_t *n)
{
    struct placebo *v = xcalloc(c->n + 1, sizeof *v);
    *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        size_t k = *n;
        while (k > 0 && !contrasts_of_one_question(v[k - 1].of, &c->v[i]))
            k--;
        if (!k)
            v[k = (*n)++].of = &c->v[i];
        else
            k--;
        const struct contrast *one = &c->v[i];
        bool launches = one->effect.launches > 1;
        bool placebo = launches && one->judgement.verdict == VERDICT_SAME;
        bool aa = launches && one->first && one->aa.n;
        v[k].contrasts += placebo;
        v[k].called += placebo && verdict_is_difference(one->measured);
        v[k].aa += aa;
        v[k].aa_called += aa && one->aa_called;
    }
    return v;
}

const char placebo_columns[] = "platform,workload,label,run_id,mode,contrasts,called,aa,aa_called";

void placebo_put(struct csv *csv, const struct comparison *c)
{
    size_t n = 0;
    AUTO_FREE struct placebo *v = placebo_rows(c, &n);
    for (size_t i = 0; i < n; i++) {
        const struct contrast *of = v[i].of;
        CSV_TEXTS(csv, of->platform, of->workload, of->label, of->run_id, of->mode);
        CSV_INTEGERS(csv, (int64_t)v[i].contrasts, (int64_t)v[i].called, (int64_t)v[i].aa,
                     (int64_t)v[i].aa_called);
        csv_end(csv);
    }
}
