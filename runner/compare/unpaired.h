/* SPDX-License-Identifier: Apache-2.0
 *
 * The contrasts inside an imported run, whose configs were launched one by one and share no block.
 * Each config is compared with the baseline, between cells that are alike in all else, launches with
 * launches (as in between_runs.h, but without an A/A floor). Only launches of one origin are
 * compared. Launches without a counterpart of their origin have a row without numbers, which names
 * the difference.
 */
#pragma once

#include "compare/baseline.h"

/* Adds the contrasts of a run, whose groups are gathered. */
void compare_unpaired(struct comparison *c, const struct recorded *r, const struct gathered *groups,
                      const struct origins *origins, const struct compare_rules *rules);
