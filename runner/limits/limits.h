/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares measurements and published claims with the limits of their platform. Columns of
 * limits.csv:
 *
 *   platform, kind (measured, published), claim, source, quantity, value, unit, limit,
 *   limit_source, fraction, physics, verdict
 *
 * Verdicts: possible; at the limit (LIMITS_NEAR of it or more); impossible (above it by more than
 * LIMITS_ROUNDING, or two numbers that must agree differ by more than LIMITS_APART); not a
 * collective (one rank); no limit (the config gives none). Claims that only measurements can judge:
 * supported, in part, contradicted, unsupported.
 *
 * The limits are busbw, link, memory, flops and flops.PRECISION of [limits] in the platform's
 * config. flops without a precision holds only for fp32 and tf32: bf16 is twice as fast. With
 * reduction in the switch (NVLS) a rank sends its payload once, not 2(n-1)/n times, so busbw may be
 * 2(n-1)/n times the link.
 */
#pragma once

#include "limits/claims.h"

#include <stdint.h>

#define LIMITS_CSV "limits.csv"
extern const char limits_columns[];
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
    double value, limit, fraction; /* fraction: value / limit */
    char limit_source[200], physics[400];
    enum limits_verdict verdict;
};

/* The fields of a row of summary.csv that matter here. */
struct measured_cell {
    char *platform, *workload, *label, *config, *mode, *params, *run_id; /* owned */
    int64_t ranks, size_B;
    double time_s, algbw, busbw, limit; /* NaN where there is none */
};
struct measured_cells {
    struct measured_cell *v;
    size_t n;
};

/* What a claim is compared with: its platform's config, and all measurements. */
struct audit {
    const struct config *config; /* NULL: unknown */
    const struct measured_cells *cells;
};

/* Print formatted text into a row's fields. */
#define LIMITS_SAY(row, ...) snprintf((row)->physics, sizeof(row)->physics, __VA_ARGS__)
#define LIMITS_FROM(row, ...) snprintf((row)->limit_source, sizeof(row)->limit_source, __VA_ARGS__)

/* Sets the verdict: a value above `limit` is impossible. Both positive. */
void limits_judge(struct limits_row *row, double value, double limit);
/* Sets the verdict: value must equal limit, apart from rounding. */
void limits_judge_equal(struct limits_row *row, double value, double limit);

/* One rank: `rate` is the rate of copies in a memory with bandwidth `memory`; NaN: unknown. */
void limits_not_a_collective(struct limits_row *row, double rate, double memory);

/* Writes the checks that a claim's quantities allow. Returns how many. */
#define LIMITS_ROWS 32
size_t limits_of_claim(const struct audit *a, const struct claim *c,
                       struct limits_row rows[LIMITS_ROWS]);
/* Checks the bandwidth, the compute rate and the arithmetic of a measured cell. Returns how
 * many. */
size_t limits_of_cell(const struct config *config, const struct measured_cell *cell,
                      struct limits_row rows[LIMITS_ROWS]);

/* Checks the claims of the configs and the cells of DIR/summary.csv, and writes TO/limits.csv:
 * published claims first, in the order of the configs, then measurements. Without a summary.csv:
 * only claims. GS_OK or reported. counts: by verdict, published (0) and measured (1), of the
 * configs' platforms, which are added to `platforms`. */
int limits_write(const char *dir, const char *to, const char *const *configs, size_t n,
                 size_t counts[2][LIMITS_VERDICTS], struct words *platforms);
