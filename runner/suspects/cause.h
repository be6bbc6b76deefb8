/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a rank may be slow: the readings of its GPU or processor, beside the median of its peers.
 */
#pragma once

#include "base/text.h"
#include "suspects/suspects_data.h"

/* Adds "throttled by hw_thermal in 80% of readings (peers 0%), SM clock 1.20 GHz (peers 1.98 GHz)". If
 * the GPU differs in nothing, the text says so; if nothing is known, it stays empty. */
void cause_of_rank(struct text *t, const struct suspects_data *d, size_t rank);
