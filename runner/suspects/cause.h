/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a rank may be slow: what its GPU or processor says of itself, beside the median of its peers.
 */
#pragma once

#include "base/text.h"
#include "suspects/suspects_data.h"

/* Adds "throttled by hw_thermal in 80% of readings (peers 0%), SM clock 1.20 GHz (peers 1.98 GHz)"; of
 * a GPU that differs in nothing, that it does not; nothing if nothing is known. */
void cause_of_rank(struct text *t, const struct suspects_data *d, size_t rank);
