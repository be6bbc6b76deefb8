/* SPDX-License-Identifier: Apache-2.0
 *
 * Claims, measured and published, held against what their platform can do: limits.csv.
 *
 *   platform, kind (measured, published), claim, source, quantity, value, unit, limit,
 * limit_source, fraction, physics, verdict
 *
 * Verdicts: possible; at the limit (from LIMITS_NEAR on); impossible (beyond it by more than
 * rounding, LIMITS_ROUNDING; of two numbers that must agree: apart by more than LIMITS_APART); not
 * a collective (one rank); no limit (the config gives none); and of what only data can judge:
 * supported, in part, contradicted, unsupported.
 *
 * The limits are those of [limits] in the platform's config: busbw, link, memory, flops and
 * flops.PRECISION. flops without a precision is taken for fp32 and tf32 alone: bf16 is twice as
 * fast. What is reduced in the switch (NVLS) sends its payload once instead of 2(n-1)/n times, so
 * its busbw may be so many times the link.
 */
#ifndef GS_VERDICT_LIMITS_H
#define GS_VERDICT_LIMITS_H

#include "limits/claims.h"

#include <stdbool.h>
#include <stdint.h>

#define LIMITS_CSV "limits.csv"
#define LIMITS_NEAR 0.95
#define LIMITS_ROUNDING 0.005
#define LIMITS_APART 0.02

enum limits_verdict {
    LIMIT_POSSIBLE,
    LIMIT_AT,
    LIMIT_IMPOSSIBLE,
    LIMIT_NO_COLLECTIVE,
    LIMIT_NONE,
    DATA_SUPPORTED,
    DATA_IN_PART,
    DATA_CONTRADICTED,
    DATA_UNSUPPORTED,
    LIMITS_VERDICTS
};
extern const char *const limits_verdicts[LIMITS_VERDICTS];

struct limits_row {
    const char *quantity, *unit;
    double value, limit, fraction; /* fraction: how much of what is possible is claimed */
    char limit_source[200], physics[400];
    enum limits_verdict verdict;
};

/* One row of summary.csv, as far as limits are concerned. */
struct measured_cell {
    char *platform, *workload, *label, *config, *mode, *params, *run_id; /* owned */
    int64_t ranks, size_B;
    double time_s, algbw, busbw, limit; /* NaN where there is none */
};
struct measured_cells {
    struct measured_cell *v;
    size_t n;
};

/* What a claim is held against: its platform's config, and what was measured anywhere. */
struct audit {
    const struct config *config; /* NULL: none is known */
    const struct measured_cells *cells;
};

/* Formatted text into a row's fields. */
#define LIMITS_SAY(row, ...) snprintf((row)->physics, sizeof(row)->physics, __VA_ARGS__)
#define LIMITS_FROM(row, ...) snprintf((row)->limit_source, sizeof(row)->limit_source, __VA_ARGS__)

/* Above `limit` is impossible; both positive. */
void limits_judge(struct limits_row *row, double value, double limit);
/* value must equal limit but for rounding. */
void limits_judge_equal(struct limits_row *row, double value, double limit);

/* One rank: `rate` is of copies in a memory of bandwidth `memory`; NaN where either is not known.
 */
void limits_not_a_collective(struct limits_row *row, double rate, double memory);

/* The checks that a claim's quantities allow, at most LIMITS_ROWS; how many. */
#define LIMITS_ROWS 32
size_t limits_of_claim(const struct audit *a, const struct claim *c,
                       struct limits_row rows[LIMITS_ROWS]);
/* Of a measured cell: its bandwidth, its computation, its arithmetic. */
size_t limits_of_cell(const struct config *config, const struct measured_cell *cell,
                      struct limits_row rows[LIMITS_ROWS]);

/* DIR/summary.csv and the configs to DIR/limits.csv: published first, in the order of the configs,
 * then measured. `dir` without a summary.csv: published alone. GS_OK or reported; counts, by
 * verdict, are of published (0) and measured (1). */
int limits_write(const char *dir, const char *const *configs, size_t n,
                 size_t counts[2][LIMITS_VERDICTS]);

#endif
