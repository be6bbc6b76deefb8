/* SPDX-License-Identifier: Apache-2.0
 *
 * The arms of a trial, as --arms names them.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>

/* Adds the baseline, NCCL's own choice, and then the arms of a list. GS_OK, or reported. */
int trial_arms_read(struct words *arms, const char *list);
/* Are they those of a price: none, one, half? */
bool trial_arms_price(const struct words *arms);
