/* SPDX-License-Identifier: Apache-2.0
 *
 * The checks of a measured cell.
 */
#include "base/text.h"
#include "base/units.h"
#include "limits/bounds.h"
#include "limits/limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool param(const struct measured_cell *cell, const char *key, char *buf, size_t size)
{
    struct words w;
    bool found = false;
    size_t n = strlen(key);
    words_split(&w, cell->params, ' ');
    for (size_t i = 0; i < w.n && !found; i++) {
        found = !strncmp(w.v[i], key, n) && w.v[i][n] == '=';
        if (found)
            snprintf(buf, size, "%s", w.v[i] + n + 1);
    }
    words_free(&w);
    return found;
}

static void cell_busbw(const struct config *config, const struct measured_cell *cell,
                       struct limits_row *row)
{
    bool in_switch = strcasestr(cell->params, "nvls") != NULL;
    double limit = isnan(cell->limit) ? bounds_busbw(config) : cell->limit;
    row->quantity = "busbw";
    row->unit = "B/s";
    limits_judge(row, cell->busbw,
                 in_switch ? limit * bounds_ring_factor((double)cell->ranks) : limit);
    LIMITS_FROM(row, "%s", bounds_source(config, "busbw"));
    LIMITS_SAY(row, "%s",
               row->verdict == LIMIT_NONE ? "[limits] of the platform has no busbw"
               : in_switch
                   ? "reduced in the switch: a rank sends the payload once, and busbw counts it "
                     "2(n-1)/n times"
                   : "a rank passes 2(n-1)/n of the payload each way, which is what busbw counts");
}

static void cell_flops(const struct config *config, const struct measured_cell *cell,
                       struct limits_row *row)
{
    static const char *const dimensions[] = {"gemm_m", "gemm_n", "gemm_k"};
    char gemm[32], gemms[32], precision[32], word[64];
    const char *from;
    int64_t n, count, own;
    if (!param(cell, "gemm", gemm, sizeof gemm) || !param(cell, "gemms", gemms, sizeof gemms) ||
        !param(cell, "precision", precision, sizeof precision) || !units_parse_int(gemm, &n) ||
        !units_parse_int(gemms, &count))
        return;
    if (param(cell, "step", word, sizeof word) && *word)
        return; /* its GEMMs are in a file */
    double flop = 2 * (double)count;
    for (int i = 0; i < 3; i++)
        flop *= param(cell, dimensions[i], word, sizeof word) && units_parse_int(word, &own) && own
                    ? (double)own
                    : (double)n;
    double limit = bounds_flops(config, precision, &from);
    row->quantity = "FLOP rate";
    row->unit = "FLOP/s";
    limits_judge(row, flop / cell->time_s, limit);
    LIMITS_FROM(row, "%s", from);
    LIMITS_SAY(row, "%lld GEMMs of %s, %.3g FLOP, in the time of the computation alone",
               (long long)count, precision, flop);
}

/* What the number of ranks makes of algbw; of workloads that say they are an all-reduce. */
static void cell_ratio(const struct measured_cell *cell, struct limits_row *row)
{
    double ratio = cell->busbw / cell->algbw, factor = bounds_ring_factor((double)cell->ranks);
    if (!strstr(cell->workload, "allreduce") || fabs(ratio / factor - 1) <= LIMITS_ROUNDING)
        return;
    row->quantity = "busbw/algbw";
    row->unit = "1";
    limits_judge_equal(row, ratio, factor);
    row->verdict = LIMIT_IMPOSSIBLE;
    LIMITS_FROM(row, "2(n-1)/n, n = %lld", (long long)cell->ranks);
    LIMITS_SAY(row, "busbw is algbw times 2(n-1)/n by definition");
}

size_t limits_of_cell(const struct config *config, const struct measured_cell *cell,
                      struct limits_row rows[LIMITS_ROWS])
{
    size_t n = 0;
    memset(rows, 0, 3 * sizeof *rows);
    if (cell->busbw > 0 && cell->ranks < 2) {
        limits_not_a_collective(&rows[n++], cell->algbw, bounds_of(config, "memory"));
    } else if (cell->busbw > 0) {
        cell_busbw(config, cell, &rows[n++]);
        cell_ratio(cell, &rows[n]);
        n += rows[n].quantity != NULL;
    }
    if (!strcmp(cell->mode, "compute")) {
        cell_flops(config, cell, &rows[n]);
        n += rows[n].quantity != NULL;
    }
    return n;
}
