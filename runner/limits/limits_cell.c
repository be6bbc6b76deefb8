/* SPDX-License-Identifier: Apache-2.0
 *
 * The checks of a measured cell.
 */
#include "base/text.h"
#include "base/units.h"
#include "common/collective.h"
#include "limits/bounds.h"
#include "limits/limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool param(const struct measured_cell *cell, const char *key, char *buf, size_t size)
{
    AUTO_WORDS struct words w = {0};
    bool found = false;
    size_t n = strlen(key);
    words_split(&w, cell->params, ' ');
    for (size_t i = 0; i < w.n && !found; i++) {
        found = !strncmp(w.v[i], key, n) && w.v[i][n] == '=';
        if (found)
            snprintf(buf, size, "%s", w.v[i] + n + 1);
    }
    return found;
}

static enum collective collective_of(const struct measured_cell *cell)
{
    char name[32];
    return collective_named(param(cell, "collective", name, sizeof name) ? name : "");
}

/* Is it known that no switch reduced? */
static bool states_algorithm(const struct config *config, const struct measured_cell *cell)
{
    char word[64];
    return (param(cell, "algorithm", word, sizeof word) && *word && strcasecmp(word, "auto")) ||
           (cell->ran && *cell->ran) || strcasestr(cell->config, "ring") ||
           strcasestr(cell->config, "tree") || strstr(cell->params, "NCCL_NVLS_ENABLE=0") ||
           limits_without_nvls(config);
}

static void cell_busbw(const struct config *config, const struct measured_cell *cell,
                       struct limits_row *row)
{
    enum collective collective = collective_of(cell);
    bool reduces = collective == COLLECTIVE_ALLREDUCE;
    bool in_switch = reduces && strcasestr(cell->params, "=nvls") != NULL;
    double factor = collective_busbw_factor(collective, (double)cell->ranks);
    double limit = isnan(cell->limit) ? bounds_busbw(config) : cell->limit;
    row->quantity = "busbw";
    row->unit = "B/s";
    limits_judge_busbw(row, cell->busbw, in_switch ? limit * factor : limit, reduces ? factor : 0,
                       in_switch || states_algorithm(config, cell));
    LIMITS_FROM(row, "%s", bounds_source(config, "busbw"));
    if (row->verdict == LIMIT_NONE)
        LIMITS_SAY(row, "[limits] of the platform has no busbw");
    else if (in_switch)
        LIMITS_SAY(row, "reduced in the switch: a rank sends the payload once, and busbw counts it "
                        "2(n-1)/n times");
    else if (row->verdict == LIMIT_SWITCH)
        LIMITS_SAY(row, "no algorithm is stated: with reduction in the switch (NVLS) up to %s",
                   HUMAN_RATE(limit * factor));
    else
        LIMITS_SAY(row, "a rank passes %s of the payload each way, which is what busbw counts",
                   collective_busbw_formula(collective));
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

/* What the number of ranks makes of algbw; of workloads that measure operations alone. */
static void cell_ratio(const struct measured_cell *cell, struct limits_row *row)
{
    enum collective collective = collective_of(cell);
    double ratio = cell->busbw / cell->algbw;
    double factor = collective_busbw_factor(collective, (double)cell->ranks);
    if (!strstr(cell->workload, "allreduce") || fabs(ratio / factor - 1) <= LIMITS_ROUNDING)
        return;
    row->quantity = "busbw/algbw";
    row->unit = "1";
    limits_judge_equal(row, ratio, factor);
    row->verdict = LIMIT_IMPOSSIBLE;
    LIMITS_FROM(row, "%s, n = %lld", collective_busbw_formula(collective), (long long)cell->ranks);
    LIMITS_SAY(row, "busbw is algbw times %s by definition", collective_busbw_formula(collective));
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
