/* SPDX-License-Identifier: Apache-2.0
 *
 * The contrasts inside an imported run, whose configs were launched apart and share no block: each
 * config against the baseline, between cells that are alike in all else, launches against launches
 * (unpaired, as in compare/between_runs.h, without an A/A floor). Only launches of one origin are held against
 * each other; those that have no counterpart of their own origin are a row without numbers that
 * names what differs.
 */
#ifndef GS_VERDICT_APART_H
#define GS_VERDICT_APART_H

#include "compare/origin.h"
#include "compare/within_run.h"

/* Adds the contrasts of a run. GS_OK or reported. */
int compare_apart(struct comparison *c, const struct recorded *r, const struct origins *origins,
                  const struct rules *rules);

#endif
