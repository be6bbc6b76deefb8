/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a GPU's clocks were held down, from the readings before and after a block.
 */
#ifndef GS_THROTTLE_H
#define GS_THROTTLE_H

#include <jansson.h>
#include <stddef.h>

/* Of a health line (record.h): adds the readings that have throttle reasons to *readings, and to
 * *throttled those in which the power cap or another reason that follows the load was active. */
void throttle_count(const json_t *health, size_t *readings, size_t *throttled);

#endif
