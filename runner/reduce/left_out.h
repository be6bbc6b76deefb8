/* SPDX-License-Identifier: Apache-2.0
 *
 * The launches of a run folder that the statistics leave out (launches.h), for those that measure it:
 * they tell, and measure others in place of them.
 */
#pragma once

#include "record/host_load.h"

#include <stdint.h>

/* Those of all groups of a run folder, each once, with the reason of its first group. GS_OK or
 * reported. */
int launches_out_of_run(struct disturbed_launches *out, const char *dir);

/* While a run is measured: says once of each launch that it is left out, and counts them. */
struct launches_told {
    int *v;
    size_t n;
};
int launches_tell(struct launches_told *told, const char *name, const char *dir);
/* Launches to measure besides the n planned ones: one for each that is left out, half of n at most. */
int launches_more(const struct launches_told *told, int64_t n);
