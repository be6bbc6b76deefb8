/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads tune.json, which may come from somebody else, and judges it before anything of it is used.
 */
#pragma once

#include <jansson.h>

#define TUNE_STATE "tune.json" /* in the folder of the race: what resume needs */

/* The command and the settings are texts, each number is in its range, and other runs are named as
 * "../../WORKLOAD/RUN". GS_OK, or reported: `path` is missing or damaged. */
int tune_state_read(json_t **state, const char *path);
