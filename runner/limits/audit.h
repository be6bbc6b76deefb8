/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks a claim that one config is faster than another with the measurements.
 */
#pragma once

#include "limits/limits.h"

/* Checks a claim with `faster` and `slower` on every platform that measured both with all else
 * equal. Writes one row per platform, at most `most`; returns how many. A word means all configs
 * that have it between slashes (tree: tree/LL, tree/Simple); the fastest of them at each size
 * counts. `slower others` means every config that is not `faster`. `workload` and `mode` select
 * cells; the default mode is communication alone. The claimed speedup is at least `speedup`,
 * default 1. The claim is supported if every size shows it, contradicted if no size does. On other
 * hardware, or with another number of ranks than claimed, it is neither: "other hardware". */
size_t limits_of_data(const struct audit *a, const struct claim *c, struct limits_row *rows,
                      size_t most);
