/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/remarks.h"

#include "base/text.h"
#include "base/units.h"
#include "reduce/launches.h"

#include <math.h>
#include <string.h>

struct change series_change(const struct series *s, size_t first, size_t n)
{
    AUTO_FREE double *x = xmalloc((n + 1) * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = s->blocks[first + i].time_s;
    return stats_change(x, n);
}

double gathered_throttled(const struct gathered *g)
{
    return g->readings ? (double)g->throttled / (double)g->readings : NAN;
}

static void add_changes(struct text *t, const struct series *s)
{
    char before[32], after[32];
    for (size_t i = 0, end; i < s->n_blocks; i = end) {
        for (end = i; end < s->n_blocks && s->blocks[end].launch == s->blocks[i].launch; end++)
            ;
        struct change c = series_change(s, i, end - i);
        if (c.at)
            text_addf(t, "%slaunch %d changes level after block %zu of %zu: %s before and %s after",
                      t->len ? "; " : "", s->blocks[i].launch, c.at, end - i,
                      units_human_time(before, sizeof before, c.before),
                      units_human_time(after, sizeof after, c.after));
    }
}

/* The number of operations is not known for all imports. */
static void add_operations(struct text *t, const struct recorded *r, const struct series *s)
{
    char metric[16];
    const char *m = recorded_param(&r->cells[s->cell], "metric", metric, sizeof metric);
    if (!r->imported && m && !strcmp(m, "T_ss") && s->iterations < REMARK_STEADY)
        text_addf(t, "%sT_ss over %llu operations, fewer than %d", t->len ? "; " : "",
                  (unsigned long long)s->iterations, REMARK_STEADY);
}

char *remarks_throttled(const struct gathered *g)
{
    double share = gathered_throttled(g);
    return share > 0.5 ? xstrfmt("power cap or clock throttle in %.0f%% of readings: compare "
                                 "inside this group only",
                                 100 * share)
                       : xstrdup("");
}

char *remarks_of(const struct recorded *r, const struct gathered *g, const struct series *s)
{
    struct text t = {0};
    AUTO_FREE char *throttled = remarks_throttled(g), *left_out = launches_out_text(g);
    if (s->n_blocks) {
        if (*left_out)
            text_add(&t, left_out);
        add_changes(&t, s);
        add_operations(&t, r, s);
        if (*throttled)
            text_addf(&t, "%s%s", t.len ? "; " : "", throttled);
    }
    return t.s ? t.s : xstrdup("");
}
