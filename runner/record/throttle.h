/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts GPU clock throttling in the readings before and after a block.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Reads a health line (record.h). Adds to *readings the readings that name throttle reasons, and to
 * *throttled those with an active power cap or another reason that depends on the load. */
void throttle_count(const json_t *health, size_t *readings, size_t *throttled);

/* Does the reason depend on the load? An idle GPU and fixed clocks are reasons too. */
bool throttle_follows_load(const char *reason);
