/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the present config of a platform still requests the recorded cells.
 */
#pragma once

#include "record/recorded.h"

/* The config of the platform, CONFIGS/PLATFORM.ini. If there is none and an override named the
 * platform of the run, the config that was overridden; then *overrides are the overrides to repeat,
 * else NULL. The caller frees the path. */
char *config_match_path(const struct recorded *r, const char *configs,
                        const char *const **overrides);

/* Plans the section of the run again. requested[i]: a planned cell has the same values for all
 * parameters that both have, so a parameter added to the plugin since then makes no difference; a
 * recording of another version of the plugin is taken as it is.
 * Returns the requested launches. 0: the section no longer exists, or the config cannot be read or
 * planned; then *why is the error, which the caller frees, else NULL. Reports nothing. */
int64_t config_match_cells(const struct recorded *r, const char *config,
                           const char *const *overrides, bool *requested, char **why);
