/* SPDX-License-Identifier: Apache-2.0
 *
 * What was measured says of a claim that one config is faster than another.
 */
#ifndef GS_VERDICT_EVIDENCE_H
#define GS_VERDICT_EVIDENCE_H

#include "limits/limits.h"

/* A claim with `faster` and `slower` words is held against every platform on which both were
 * measured with all else alike, a row a platform, at most `most`; how many. A word stands for the
 * configs that hold it between slashes (tree: tree/LL, tree/Simple), and the fastest of them at
 * each size is taken; `slower others` stands for every config that is not `faster`. `workload` and
 * `mode` narrow what is looked at; without a mode it is the exchange alone. The claim is of at
 * least `speedup`, 1 unless given: supported where every size shows it, contradicted where none
 * does. */
size_t limits_of_data(const struct audit *a, const struct claim *c, struct limits_row *rows,
                      size_t most);

#endif
