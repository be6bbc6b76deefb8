/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks claims and measurements with the limits of limits.h and with each other, and prints the checks.
 */
#pragma once

#include "limits/limits.h"

/* Checks a claim with `faster` and `slower` on every platform that measured both with all else
 * equal. Reads the tables `summary`, and `chosen` for the GPUs of other platforms than that of
 * the claim, which the config describes. Writes one row per platform, at most `most`. A word means all configs
 * that have it between slashes (tree: tree/LL, tree/Simple); the fastest of them at each size
 * counts. `slower others` means every config that is not `faster`. `workload` and `mode` select
 * cells; the default mode is communication alone. The claimed speedup is at least `speedup`,
 * default 1. The claim is supported if every size shows it, contradicted if no size does. On other
 * hardware, or with another number of ranks than claimed, it is neither: "other hardware".
 * GS_OK or reported. */
int limits_of_data(struct store *s, const struct config *config, const char *platform,
                   const struct claim *c, struct limits_row *rows, size_t most, size_t *n);

/* Checks the claims of the configs and the cells of the table `summary`, and makes the table `limits`:
 * published claims first, in the order of the configs, then measurements. The table `chosen` has the
 * platforms of the configs and their GPUs. GS_OK or reported. */
int limits_check(struct store *s, const char *const *configs, size_t n);
/* The columns of `summary` that it reads. */
extern const char limits_reads[];

/* Prints the checks of the chosen platforms, worst first: every check of a published claim; of
 * measurements, the largest fraction of each platform, quantity and verdict, and their number. path:
 * of the file that has every row; NULL: there is none. GS_OK or reported. */
int limits_print(struct store *s, const char *path);
/* Says how many checks have which verdict. *any: there is one. GS_OK or reported. */
int limits_say(struct store *s, bool *any);
