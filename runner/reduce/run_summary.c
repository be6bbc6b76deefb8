/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/run_summary.h"

#include "base/err.h"
#include "base/text.h"

#include <stdlib.h>

static void take(struct run_summary *s, const struct series *one)
{
    struct series_status o = series_status(s->r, one);
    s->cells[one->cell] = summary_of(s->r, one);
    s->status[one->cell] =
        (struct cell_status){o.status, xstrdup(o.why), one->launches,
                             o.numbers && summary_converged(s->r, one, &s->cells[one->cell])};
}

int run_summary_read(struct run_summary *s, const char *dir)
{
    *s = (struct run_summary){0};
    int code = recorded_read(&s->r, dir);
    if (code)
        return code;
    if (!s->r)
        return fail(GS_FAILED, "%s: nothing recorded yet", dir);
    s->cells = xcalloc(s->r->n_cells + 1, sizeof *s->cells);
    s->status = xcalloc(s->r->n_cells + 1, sizeof *s->status);
    for (size_t i = 0; i < s->r->n_groups && !code; i++) {
        struct gathered g;
        code = gather_group(s->r, i, &g);
        for (size_t k = 0; k < g.n && !code; k++)
            if (!g.series[k].copy)
                take(s, &g.series[k]);
        gathered_free(s->r, &g);
    }
    return code;
}

void run_summary_free(struct run_summary *s)
{
    for (size_t i = 0; s->status && i < s->r->n_cells; i++)
        free(s->status[i].why);
    free(s->status);
    free(s->cells);
    if (s->r)
        recorded_free(s->r);
    *s = (struct run_summary){0};
}
