/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads tune.json, which may come from somebody else, and judges it before anything of it is used.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#define TUNE_STATE "tune.json" /* in the folder of the race: what resume needs */

#define SETTINGS_MOST 4096

/* A member of the state: a number in its range, a flag, another run, or a text. It may be absent: older states lack
 * some. */
struct state_member {
    const char *name;
    enum { STATE_REAL, STATE_INT, STATE_WIDE, STATE_FLAG, STATE_RUN, STATE_TEXT } kind;
    double least, most; /* of numbers */
    size_t at;          /* in the struct that holds it: double, int, int64_t, bool, char * */
};

/* The command and the settings are texts, each number is in its range, and other runs are named as
 * "../../WORKLOAD/RUN". GS_OK, or reported: `path` is missing or damaged. */
int tune_state_read(json_t **state, const char *path, const struct state_member *members,
                    size_t count);
