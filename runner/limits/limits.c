/* SPDX-License-Identifier: Apache-2.0 */
#include "limits/limits.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const limits_verdicts[LIMITS_VERDICTS] = {
    [LIMIT_POSSIBLE] = "possible",
    [LIMIT_AT] = "at the limit",
    [LIMIT_IMPOSSIBLE] = "impossible",
    [LIMIT_SWITCH] = "above the link: only with reduction in the switch",
    [LIMIT_NO_COLLECTIVE] = "not a collective",
    [LIMIT_NONE] = "no limit",
    [DATA_SUPPORTED] = "supported",
    [DATA_IN_PART] = "in part",
    [DATA_CONTRADICTED] = "contradicted",
    [DATA_UNSUPPORTED] = "unsupported",
    [DATA_UNREACHED] = "unreached",
    [DATA_ELSEWHERE] = "other hardware",
};

/* ---- judging ---- */

void limits_judge(struct limits_row *row, double value, double limit)
{
    row->value = value;
    row->limit = limit;
    row->fraction = value / limit;
    row->verdict = isnan(row->fraction)                  ? LIMIT_NONE
                   : row->fraction > 1 + LIMITS_ROUNDING ? LIMIT_IMPOSSIBLE
                   : row->fraction >= LIMITS_NEAR        ? LIMIT_AT
                                                         : LIMIT_POSSIBLE;
}

void limits_judge_busbw(struct limits_row *row, double busbw, double limit, double switched,
                        bool stated)
{
    limits_judge(row, busbw, limit);
    if (row->verdict == LIMIT_IMPOSSIBLE && !stated &&
        busbw <= limit * switched * (1 + LIMITS_ROUNDING))
        row->verdict = LIMIT_SWITCH;
}

bool limits_without_nvls(const struct config *c)
{
    for (size_t i = 0; c && i < c->n; i++)
        if (strstr(c->entries[i].value, "NCCL_NVLS_ENABLE=0"))
            return true;
    return false;
}

void limits_judge_equal(struct limits_row *row, double value, double limit)
{
    limits_judge(row, value, limit);
    row->verdict = fabs(row->fraction - 1) > LIMITS_APART ? LIMIT_IMPOSSIBLE : LIMIT_POSSIBLE;
}

void limits_not_a_collective(struct limits_row *row, double rate, double memory)
{
    char moved[32], peak[32], one[32];
    row->quantity = "ranks";
    row->unit = "1";
    row->value = 1;
    row->limit = 2;
    row->fraction = NAN;
    row->verdict = LIMIT_NO_COLLECTIVE;
    LIMITS_FROM(row, "an all-reduce has at least two ranks");
    if (isnan(memory) || isnan(rate))
        LIMITS_SAY(row,
                   "one rank has nobody to reduce with: it copies memory, and its bandwidth says "
                   "nothing of a link");
    else
        LIMITS_SAY(
            row,
            "one rank has nobody to reduce with: it copies memory, reading and writing %s, %s "
            "together, which is %.0f%% of the memory's %s",
            units_human_rate(one, sizeof one, rate),
            units_human_rate(moved, sizeof moved, 2 * rate), 100 * 2 * rate / memory,
            units_human_rate(peak, sizeof peak, memory));
}
