/* SPDX-License-Identifier: Apache-2.0
 *
 * The table `limits`: published claims and measured bandwidths against the limits of the hardware.
 *
 * A claim is in [reference] of a platform's config. Every other number of [reference] that is a rate,
 * such as busbw = 449GB/s, is a claim of bus bandwidth.
 *
 *   claim.tree        = tree is 3-5x faster than ring       the claim, in its original words
 *   claim.tree.source = a project's README                  its publication
 *   claim.tree.given  = speedup 3, faster tree, slower ring, ranks 8
 *
 * The quantities of `given` decide which checks are possible. Claims about a training over a WAN are in
 * [model] (wan/wan_audit.h).
 *
 * Verdicts: possible; at the limit (95% of it or more); impossible (above it by more than 0.5%, or two
 * numbers that must agree differ by more than 2%); above the link: only with reduction in the switch;
 * not a collective (one rank); unsupported (one launch); no limit (the config gives none). Of a WAN
 * also contradicted (by another claim or a known fact) and unreached (physics allows it, the plan
 * does not). With reduction in the switch (NVLS) a rank sends its payload once, not 2(n-1)/n times, so
 * busbw may be 2(n-1)/n times the link.
 */
#pragma once

#include "config/config.h"
#include "store/store.h"

/* Fills the table `limits`, which is empty: the claims of all configs, those of models last, then the measured
 * bandwidths of `summary`. A fault in a config is reported, and its claims are left out; then GS_USAGE.
 * GS_OK, or reported. */
int limits_make(struct store *s);
/* Reports every fault of the claims in [reference]. GS_OK or GS_USAGE. */
int limits_claims_check(const struct config *c);
