/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/power.h"

#include "base/student.h"

#include <math.h>
#include <stdio.h>

double contrast_power(const struct contrast *c, size_t family)
{
    const struct effect *e = &c->effect;
    double floor = contrast_floor(c), tail = (1 - CONTRAST_LEVEL) / 2;
    if (e->launches < 2 || isnan(e->se) || isnan(floor) || c->same_operation)
        return NAN;
    double least = fmax(student_quantile(tail / (double)family, e->df) * e->se,
                        student_quantile(tail, e->df) * e->se + floor);
    double room = log1p(POWER_CHANGE) - fmax(least, log1p(c->bound));
    if (!(e->se > 0))
        return room > 0;
    double beyond = student_tail(fabs(room) / e->se, e->df);
    return room > 0 ? 1 - beyond : beyond;
}

static size_t family_of(const struct comparison *c, const struct contrast *of)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += c->v[i].family == of->family && !isnan(c->v[i].effect.p_interval);
    return n;
}

void power_print(const struct comparison *c)
{
    double sum[LEVELS] = {0};
    size_t n[LEVELS] = {0};
    const char *before = "power: a change of 2% would be found in";
    for (size_t i = 0; i < c->n; i++) {
        enum level level = contrast_level(&c->v[i]);
        double power = contrast_power(&c->v[i], family_of(c, &c->v[i]));
        if (isnan(power))
            continue;
        sum[level] += power;
        n[level]++;
    }
    for (int level = 0; level < LEVELS; level++)
        if (n[level]) {
            printf("%s %.0f%% of %zu %s", before, 100 * sum[level] / (double)n[level], n[level],
                   level_names[level]);
            before = ",";
        }
    if (*before == ',')
        puts("");
}
