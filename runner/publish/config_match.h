/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the present config of a platform still requests the recorded cells.
 */
#ifndef GS_PUBLISH_CONFIG_MATCH_H
#define GS_PUBLISH_CONFIG_MATCH_H

#include "record/recorded.h"

/* The config of the platform, CONFIGS/PLATFORM.ini. Where there is none and the run was given its
 * platform's name by an override, the config that it was given to: then its overrides are still
 * requested (*overrides; else NULL). The caller frees the path. */
char *config_match_path(const struct recorded *r, const char *configs,
                        const char *const **overrides);

/* Plans the section of the run anew. requested[i]: some planned cell has the same value for every
 * parameter that both know, so that one which was added to a plugin since is no difference. Returns
 * the launches that it requests; 0 when the section is gone, or when the config cannot be read or
 * planned: then *why is the error, which the caller frees, else NULL. Reports nothing. */
int64_t config_match_cells(const struct recorded *r, const char *config,
                           const char *const *overrides, bool *requested, char **why);

#endif
