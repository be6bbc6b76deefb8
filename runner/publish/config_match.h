/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a platform's config, as it stands today, still asks for what was recorded.
 */
#ifndef GS_PAPER_ASKED_H
#define GS_PAPER_ASKED_H

#include "record/recorded.h"

/* The config of the platform, CONFIGS/PLATFORM.ini. Where there is none and the run was given its
 * platform's name by an override, the config that it was given to: then its overrides are still
 * asked for (*overrides; else NULL). The caller frees the path. */
char *asked_config(const struct recorded *r, const char *configs, const char *const **overrides);

/* Plans the section of the run anew. asked[i]: some planned cell has the same value for every
 * parameter that both know, so that one which was added to a plugin since is no difference. Returns
 * the launches that are asked for; 0 when the section is gone, or when the config cannot be read or
 * planned: then *why is the error, which the caller frees, else NULL. Reports nothing. */
int64_t asked_today(const struct recorded *r, const char *config, const char *const *overrides,
                    bool *asked, char **why);

#endif
