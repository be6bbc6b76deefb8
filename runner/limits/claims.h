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
 * QUANTITY is one of claim_quantities[] or claim_words[]; the given quantities decide which checks
 * are possible (limits.h). Every other number of [reference] that is a rate is compared with the
 * platform's limit: busbw = 449GB/s. Claims about a training
 * over a WAN are in [model] (wan/wan_audit.h).
 */
#pragma once

#include "config/config.h"

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
extern const char *const claim_quantities[QUANTITIES];

enum claim_word { W_FASTER, W_SLOWER, W_WORKLOAD, W_MODE, W_PRECISION, CLAIM_WORDS };
extern const char *const claim_words[CLAIM_WORDS];

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
