/* SPDX-License-Identifier: Apache-2.0
 *
 * The power of a recording: the probability that each contrast finds a change of 2%, from its
 * own standard error, degrees of freedom, A/A floor and family. The estimate must lie above the bound
 * of a verdict, its interval above the floor, and its p must pass Holm's first step, which is the
 * hardest.
 */
#pragma once

#include "compare/compare.h"

#define POWER_CHANGE 0.02

/* NaN: the contrast has no verdict by times. The comparison is solved; `family`: contrasts of it. */
double contrast_power(const struct contrast *c, size_t family);
/* One line: the mean for each level of evidence; nothing if there is none. */
void power_print(const struct comparison *c);
