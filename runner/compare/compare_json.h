/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON of `gradsync compare --json` (docs/formats.md).
 */
#pragma once

#include "compare/winner.h"

/* Prints one object: the best config of each group that has a contrast in c, and these contrasts. */
void comparison_print_json(const struct comparison *c, const struct winners *w);
