/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a platform's config, as it stands today, still asks for what was recorded.
 */
#ifndef GS_PAPER_ASKED_H
#define GS_PAPER_ASKED_H

#include "recorded.h"

/* Plans the section of the run anew. asked[i]: some planned cell has the same value for every
 * parameter that both know, so that one which was added to a plugin since is no difference. Returns
 * the launches that are asked for; 0, and nothing is asked for: no such config, none that can be
 * planned, or no such section. Reports nothing. */
int64_t asked_today(const struct recorded *r, const char *config, bool *asked);

#endif
