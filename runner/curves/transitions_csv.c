/* SPDX-License-Identifier: Apache-2.0
 *
 * Curves to the table `transitions`.
 */
#include "base/text.h"
#include "curves/curves.h"
#include "curves/transitions.h"

#include <math.h>
#include <stdlib.h>

const char transitions_columns[] =
    "platform,workload,label,config,mode,params,ranks,nodes,kind,size_B,from_B,to_B,before_a_s,"
    "before_b_Bps,after_a_s,after_b_Bps,change,agree,replicates,verdict,fit_error,"
    "fit_error_out,reason";

/* Sizes are rounded to bytes; an infinite bandwidth is an empty field. */
static void write_one(struct csv *c, const struct curve_rows *g, const struct transitions *t,
                      const struct transition *one)
{
    for (size_t i = 0; i < 5; i++)
        csv_text(c, g->names[i]);
    csv_text(c, g->params);
    csv_integer(c, g->ranks);
    csv_integer(c, g->nodes);
    csv_text(c, transition_names[one->kind]);
    CSV_INTEGERS(c, llround(one->size), llround(one->low), llround(one->high));
    const double real[] = {one->before.a_s, one->before.b_Bps, one->after.a_s, one->after.b_Bps,
                           one->change};
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        csv_real(c, isinf(real[i]) ? (double)NAN : real[i]);
    csv_integer(c, (int64_t)one->agree);
    csv_integer(c, (int64_t)t->replicates);
    csv_text(c, transition_verdict(t, one));
    csv_real(c, t->error_in);
    csv_real(c, t->error_out);
    csv_text(c, one->why);
    csv_end(c);
}

static void write_curve(struct csv *c, struct curve_rows *g)
{
    AUTO(curve_grid_free) struct curve_grid grid = curve_grid_of(g);
    if (grid.n) {
        const char *const **ran = xmalloc(grid.replicates * sizeof *ran);
        for (size_t r = 0; r < grid.replicates; r++)
            ran[r] = grid.ran + r * grid.n_max;
        const struct curve curve = {grid.size, grid.n, grid.rows, grid.replicates,
                                    grid.known ? ran : NULL};
        struct transitions t = transitions_find(&curve);
        for (size_t i = 0; i < t.n; i++)
            write_one(c, g, &t, &t.v[i]);
        transitions_free(&t);
        free(ran);
    }
}

int transitions_make(struct store *s)
{
    AUTO(curves_free) struct curves all = {0};
    struct csv csv;
    int code = curves_read(&all, s);
    if (!code)
        code = store_make(s, "transitions", transitions_columns);
    if (code)
        return code;
    struct store_rows *rows = store_rows_begin(s, "transitions", transitions_columns, -1, &csv);
    for (size_t i = 0; i < all.n; i++)
        write_curve(&csv, &all.v[i]);
    return store_rows_end(rows);
}
