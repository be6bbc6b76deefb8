/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/judgement.h"

#include "base/student.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>

#define POWER_TAIL 0.2

const char *const verdict_names[VERDICTS] = {"faster", "slower", "equivalent", "inconclusive",
                                             "same operation"};

bool verdict_is_difference(enum verdict v)
{
    return v == VERDICT_FASTER || v == VERDICT_SLOWER;
}

bool judgement_permutes(const struct effect *e, size_t n)
{
    return e->p_least * (double)n <= JUDGEMENT_ALPHA;
}

double judgement_p(const struct effect *e, size_t n)
{
    return judgement_permutes(e, n) ? fmax(e->p_interval, e->p_permutation) : e->p_interval;
}

void contrast_holm(double *p, size_t n)
{
    AUTO_FREE size_t *order = xmalloc((n + 1) * sizeof *order);
    size_t m = 0;
    for (size_t i = 0; i < n; i++) { /* families are small: by insertion */
        if (isnan(p[i]))
            continue;
        size_t k = m++;
        for (; k > 0 && p[order[k - 1]] > p[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    double most = 0;
    for (size_t k = 0; k < m; k++) {
        double adjusted = p[order[k]] * (double)(m - k);
        most = adjusted > most ? adjusted : most;
        p[order[k]] = most < 1 ? most : 1;
    }
}

static bool within(const struct effect *e, double bound)
{
    return e->lo > -bound && e->hi < bound;
}

/* Would n launches have a half-width below `room` with 80% power? The standard error gives the spread
 * of a launch; the degrees of freedom grow with the launches. */
static bool suffice(const struct effect *e, int n, double room)
{
    double spread = e->se * sqrt(e->launches), df = (e->df + 1) / e->launches * n - 1;
    double reach =
        student_quantile((1 - CONTRAST_LEVEL) / 2, df) + student_quantile(POWER_TAIL, df);
    return reach * spread / sqrt(n) < room;
}

/* The number of further launches; -1: too many. The half-width falls with the number of launches, so
 * bisection finds the smallest number. */
static int64_t launches_needed(const struct effect *e, double room)
{
    int lo = e->launches, hi = JUDGEMENT_MOST_LAUNCHES;
    if (!(room > 0) || lo >= hi || !suffice(e, hi, room))
        return -1;
    while (hi - lo > 1) {
        int middle = lo + (hi - lo) / 2;
        if (suffice(e, middle, room))
            hi = middle;
        else
            lo = middle;
    }
    return hi - e->launches;
}

static struct judgement inconclusive(const char *why)
{
    struct judgement j = {.verdict = VERDICT_INCONCLUSIVE, .needed = -1};
    snprintf(j.reason, sizeof j.reason, "%s", why);
    return j;
}

/* Is there too little for a verdict? */
static bool refused(const struct effect *e, struct judgement *j)
{
    if (e->launches == 0)
        *j = inconclusive("not measured together");
    else if (e->launches == 1) {
        *j = inconclusive("one launch says nothing about the next: 2 or more are needed, 5 are "
                          "advised");
        j->needed = 4;
    }
    return e->launches < 2;
}

static void explain(struct judgement *j, const struct effect *e, double bound, double floor)
{
    double size = fabs(e->value), room = size > bound ? size - floor : bound - size;
    double alone = fmax(e->p_interval, e->p_tested);
    bool spans = e->lo <= floor && e->hi >= -floor;
    j->needed = launches_needed(e, room);
    if (size > bound && size > floor && !spans && alone >= JUDGEMENT_ALPHA)
        snprintf(j->reason, sizeof j->reason, "p %.2g alone: not significant", alone);
    else
        snprintf(j->reason, sizeof j->reason, "%s",
                 size > bound && size <= floor ? "not above the A/A floor"
                 : size > bound && spans       ? "the interval reaches into the A/A floor"
                 : size > bound                ? "significant alone, but not after adjustment"
                                : "the interval reaches beyond the bounds of equivalence");
}

bool judgement_is_hopeless(const struct judgement *j, const struct effect *e, double equivalence)
{
    return j->verdict == VERDICT_INCONCLUSIVE && fabs(e->value) < log1p(equivalence);
}

const char *judgement_span(char *buf, size_t n, double low, double high)
{
    int digits = low > 0 && low < 0.00095 ? 2 : 1;
    snprintf(buf, n, "%.*f to %.*f%%", digits, 100 * low, digits, 100 * high);
    return buf;
}

static void tell_small(struct judgement *j, const struct effect *e, double equivalence,
                       double floor)
{
    char span[64];
    j->small = e->hi < 0 ? -1 : e->lo > 0 ? 1 : 0;
    if (j->small < 0)
        judgement_span(span, sizeof span, -expm1(e->hi), -expm1(e->lo));
    else if (j->small > 0)
        judgement_span(span, sizeof span, expm1(e->lo), expm1(e->hi));
    if (j->small)
        snprintf(j->reason, sizeof j->reason, "%s by %s, below the %.3g%% that you ask for%s",
                 j->small < 0 ? "shorter" : "longer", span, 100 * equivalence,
                 fabs(e->value) <= floor ? ", and not above the A/A floor" : "");
}

struct judgement judge_effect(const struct effect *e, double equivalence, double floor,
                              double p_holm)
{
    struct judgement j = {.verdict = VERDICT_INCONCLUSIVE};
    double bound = log1p(equivalence);
    if (refused(e, &j))
        return j;
    if (isnan(floor))
        return inconclusive("no verdict without an A/A floor");
    if (within(e, bound))
        j.verdict = VERDICT_EQUIVALENT;
    else if (e->hi < -floor && e->value < -bound && p_holm < JUDGEMENT_ALPHA)
        j.verdict = VERDICT_FASTER;
    else if (e->lo > floor && e->value > bound && p_holm < JUDGEMENT_ALPHA)
        j.verdict = VERDICT_SLOWER;
    else
        explain(&j, e, bound, floor);
    if (j.verdict == VERDICT_EQUIVALENT)
        tell_small(&j, e, equivalence, floor);
    return j;
}
