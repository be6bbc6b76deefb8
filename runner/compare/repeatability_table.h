/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints contrasts of several runs: for each two runs how often they agree, how their origins differ,
 * and every contrast that is different or contrary; then each run without a contrast in common.
 */
#pragma once

#include "compare/repeatability.h"

void repeats_print(const struct repeats *r); /* to stdout */
