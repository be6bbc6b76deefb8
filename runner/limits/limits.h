/* SPDX-License-Identifier: Apache-2.0
 *
 * Published claims, in [reference] of a platform's config. `gradsync limits` compares them with the
 * limits of the hardware and with measurements:
 *
 *   claim.NAME        = the claim, in its original words
 *   claim.NAME.source = its publication
 *   claim.NAME.given  = QUANTITY VALUE, QUANTITY VALUE, …
 *
 *   claim.tree        = tree is 3-5x faster than ring
 *   claim.tree.source = a project's README
 *   claim.tree.given  = speedup 3, faster tree, slower ring, ranks 8
 *
 * QUANTITY is one of claim_words[] in limits.c; the given quantities decide which checks
 * are possible (limits.h). Every other number of [reference] that is a rate is compared with the
 * platform's limit: busbw = 449GB/s. Claims about a training
 * over a WAN are in [model] (wan/wan_audit.h).
 *
 * The limits in [limits] of a platform's config. SI units; NaN: no such limit, or the config is
 * NULL.
 *
 * Compares measurements and published claims with the limits of their platform. Columns of
 * limits.csv:
 *
 *   platform, kind (measured, published), claim, source, quantity, value, unit, limit,
 *   limit_source, fraction, physics, verdict
 *
 * Verdicts: possible; at the limit (LIMITS_NEAR of it or more); impossible (above it by more than
 * LIMITS_ROUNDING, or two numbers that must agree differ by more than LIMITS_APART); above
 * the link: only with reduction in the switch; not a collective (one rank); no limit (the config
 * gives none). Claims that only measurements can judge: supported, in part, contradicted,
 * unsupported; other hardware: measured on another GPU or number of ranks than the claim is about,
 * which decides nothing. Claims about a WAN: unreached (physics allows it, the plan does not).
 *
 * The limits are busbw, link, memory, flops and flops.PRECISION of [limits] in the platform's
 * config. flops without a precision holds only for fp32 and tf32: bf16 is twice as fast. With
 * reduction in the switch (NVLS) a rank sends its payload once, not 2(n-1)/n times, so busbw may be
 * 2(n-1)/n times the link. An all-reduce whose algorithm nobody states may be that one, unless
 * NCCL_NVLS_ENABLE=0 was set.
 */
#pragma once

#include "config/config.h"
#include "store/store.h"

#include <stdint.h>

enum quantity {
    Q_RANKS,          /* as claimed */
    Q_RANKS_RECORDED, /* ranks of one communicator in the output behind the claim */
    Q_SIZE,
    Q_TIME,
    Q_BUSBW,
    Q_ALGBW,
    Q_OF_PEAK, /* claimed fraction busbw / peak */
    Q_MEMORY,  /* memory bandwidth; else that of the platform */
    Q_SPEEDUP, /* smallest claimed speedup of `faster` over `slower` */
    Q_LAUNCHES,
    Q_GPUS,
    Q_PARAMETERS,
    Q_TOKENS_PER_S,
    Q_TOKENS,      /* of the whole training */
    Q_STEP_TOKENS, /* of a global step */
    Q_STEP_TIME,
    Q_DURATION, /* of the whole training */
    QUANTITIES
};

enum claim_word { W_FASTER, W_SLOWER, W_WORKLOAD, W_MODE, W_PRECISION, CLAIM_WORDS };

struct claim {
    const struct config_entry *entry; /* claim.NAME, of the config */
    const char *name, *says, *source; /* of the config */
    double q[QUANTITIES];             /* SI; NaN: not given */
    char *word[CLAIM_WORDS];          /* owned; NULL: not given */
};

struct claims {
    struct claim *v;
    size_t n;
};

/* Reads the claims of a config, which must outlive them. GS_OK or GS_USAGE, every fault reported.
 * Call claims_free in both cases. */
int claims_read(struct claims *out, const struct config *c);
void claims_free(struct claims *c);

/* The rate at the start of "355GB/s ± 3% at PLACE". False: it is no rate above 0. */
bool claim_rate(const char *text, double *Bps);

/* The GPU of the platform; "": unknown. */
const char *bounds_device(const struct config *c);

#define LIMITS_CSV "limits.csv"
extern const char limits_columns[];
#define LIMITS_NEAR 0.95
#define LIMITS_ROUNDING 0.005
#define LIMITS_APART 0.02

enum limits_verdict {
    LIMIT_POSSIBLE,
    LIMIT_AT,
    LIMIT_IMPOSSIBLE,
    LIMIT_SWITCH,
    LIMIT_NO_COLLECTIVE,
    LIMIT_NONE,
    DATA_SUPPORTED,
    DATA_IN_PART,
    DATA_CONTRADICTED,
    DATA_UNSUPPORTED,
    DATA_UNREACHED,
    DATA_ELSEWHERE,
    LIMITS_VERDICTS
};
extern const char *const limits_verdicts[LIMITS_VERDICTS];

struct limits_row {
    const char *quantity, *unit;
    double value, limit, fraction; /* fraction: value / limit */
    char limit_source[200], physics[400];
    enum limits_verdict verdict;
};

/* The columns of a row of summary.csv that matter here. */
struct measured_cell {
    const char *platform, *workload, *config, *mode, *params;
    int64_t ranks, size_B;
    double time_s, algbw, busbw, limit; /* NaN where there is none */
    const char *ran;                    /* NULL: unknown */
};

/* Print formatted text into a row's fields. */
#define LIMITS_SAY(row, ...) snprintf((row)->physics, sizeof(row)->physics, __VA_ARGS__)
#define LIMITS_FROM(row, ...) snprintf((row)->limit_source, sizeof(row)->limit_source, __VA_ARGS__)

/* Sets the verdict: a value above `limit` is impossible. Both positive. */
void limits_judge(struct limits_row *row, double value, double limit);

/* Writes the checks that a claim's quantities allow, by its platform's config (NULL: unknown). Returns how
 * many. */
#define LIMITS_ROWS 32
size_t limits_of_claim(const struct config *config, const struct claim *c,
                       struct limits_row rows[LIMITS_ROWS]);
/* Checks the bandwidth, the compute rate and the arithmetic of a measured cell. Returns how
 * many. */
size_t limits_of_cell(const struct config *config, const struct measured_cell *cell,
                      struct limits_row rows[LIMITS_ROWS]);
