/* SPDX-License-Identifier: Apache-2.0
 *
 * A config, "ring/LL128" or "ctas=16/bucket_cap=50MiB", as what a user sets in a job. Values of a
 * training come from the names and values of its recording (contrast.differs), never from the label:
 * a value may hold blanks, '/', quotes, '$' and new lines.
 */
#pragma once

#include "base/text.h"
#include "compare/verdicts.h"

struct setting {
    const char *algorithm;    /* value of NCCL_ALGO; "": NCCL's choice */
    const char *protocol;     /* value of NCCL_PROTO; "": NCCL's choice */
    int ctas;                 /* NCCL_MIN_CTAS and NCCL_MAX_CTAS; 0: NCCL's choice */
    double bucket_mib;        /* DDP's bucket_cap_mb; 0: not set */
    struct words environment; /* name, value, name, value…: all variables */
    struct words unset;       /* names of variables that the job shall not have */
    struct words rest;        /* the other parts: "policy=zero", "batch=8" */
};

/* False: it is no config of NCCL or of a training. The environment cannot limit an algorithm to the
 * collectives that have it before NCCL 2.24, so tree, nvls and others need that version. Call
 * setting_free in either case. */
bool setting_of(struct setting *s, const struct contrast *c);
void setting_free(struct setting *s);
/* Is it an arm of a price (none, one, half), which nobody can set? */
bool setting_is_price(const struct contrast *c);
/* Can a tuner plugin choose it, as a trial does: is it an algorithm, a protocol and a number of CTAs
 * alone, and no more CTAs than the baseline ran? A tuner can only lower their number. */
bool setting_is_tunable(const struct setting *s, const struct contrast *c);
/* The number of parts in which it differs from the baseline. */
size_t setting_changes(const struct setting *s);

/* "NCCL_MIN_CTAS=16 NCCL_MAX_CTAS=16", words of a shell to put in front of a command; "env -u NAME"
 * comes first if a variable is removed. NULL: nothing is to be set in the environment. The caller
 * frees it. */
char *setting_export_line(const struct setting *s);

/* Did NCCL run what the config asks for, by a recorded cell's `ran`? Clamped: the same algorithm and
 * protocol with fewer CTAs, as for small sizes. Ignored: something else. Where launches differ, the
 * worst of them. Unknown: the recording does not say. */
enum setting_effect {
    EFFECT_UNKNOWN,
    EFFECT_HONOURED,
    EFFECT_CLAMPED,
    EFFECT_IGNORED,
    SETTING_EFFECTS
};
extern const char *const setting_effects[SETTING_EFFECTS];
enum setting_effect setting_effect(const char *config, const char *ran);
