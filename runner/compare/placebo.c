/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/placebo.h"

#include "base/csv.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* ---- counting ---- */

static bool same_mode(const struct contrast *a, const struct contrast *b)
{
    return !strcmp(a->mode, b->mode) && !strcmp(a->platform, b->platform);
}

static void count(struct placebo *p, const struct contrast *c)
{
    bool placebo = c->judgement.verdict == VERDICT_SAME && c->effect.launches > 1;
    bool aa = c->first && c->aa.n && c->effect.launches > 1;
    p->contrasts += placebo;
    p->called += placebo && verdict_is_difference(c->measured);
    p->aa += aa;
    p->aa_called += aa && verdict_is_difference(c->aa_judgement.verdict);
}

struct placebo *placebo_rows(const struct comparison *c, size_t *n)
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
        count(&v[k], &c->v[i]);
    }
    return v;
}

/* ---- output ---- */

static double percent(size_t part, size_t all)
{
    return all ? 100 * (double)part / (double)all : 0;
}

/* The sum over the runs of one platform and mode, from v[first] on; runs without a placebo do not count. */
static struct placebo sum_mode(const struct placebo *v, size_t n, size_t first)
{
    struct placebo sum = {.of = v[first].of};
    for (size_t i = first; i < n; i++)
        if (same_mode(v[i].of, sum.of) && v[i].contrasts) {
            sum.contrasts += v[i].contrasts;
            sum.called += v[i].called;
            sum.aa += v[i].aa;
            sum.aa_called += v[i].aa_called;
        }
    return sum;
}

static bool mode_seen(const struct placebo *v, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_mode(v[k].of, v[i].of))
            return true;
    return false;
}

static size_t platforms_of(const struct placebo *v, size_t n)
{
    size_t count = 0;
    for (size_t i = 0, k; i < n; i++) {
        for (k = 0; k < i && strcmp(v[k].of->platform, v[i].of->platform);)
            k++;
        count += k == i;
    }
    return count;
}

void placebo_print(const struct comparison *c)
{
    size_t n;
    AUTO_FREE struct placebo *v = placebo_rows(c, &n);
    const char *before = "placebo: both ran the same operation, yet their times would be called "
                         "faster or slower in";
    bool one = platforms_of(v, n) == 1;
    for (size_t i = 0; i < n; i++) {
        struct placebo p = sum_mode(v, n, i);
        if (mode_seen(v, i) || !p.contrasts)
            continue;
        printf("%s %zu of %zu %s%s%s (%.1f%%; A/A copies %zu of %zu, %.1f%%)", before, p.called,
               p.contrasts, *p.of->mode ? p.of->mode : "alone", one ? "" : " on ",
               one ? "" : p.of->platform, percent(p.called, p.contrasts), p.aa_called, p.aa,
               percent(p.aa_called, p.aa));
        before = one ? "," : ",\n ";
    }
    if (*before == ',')
        puts("");
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

int placebo_write(const struct comparison *c, const char *dir)
{
    struct csv csv;
    AUTO_FREE char *path = xstrfmt("%s/%s", dir, PLACEBO_CSV);
    int code = csv_open(&csv, path);
    if (code)
        return code;
    csv_header(&csv, placebo_columns);
    placebo_put(&csv, c);
    return csv_close(&csv, true);
}
