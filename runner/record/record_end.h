/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the last lines of a recording whose writer died.
 */
#pragma once

#include "record/record.h"

#include <jansson.h>

/* Opens a recording for more lines, and removes an incomplete last line. *ended: it has an end line.
 * GS_OK, or GS_FAILED with the system's error or the damage of the recording reported. */
int record_reopen(struct record *r, const char *path, bool *ended);

/* The fail line that explains the death. The strings belong to the caller. */
struct record_death {
    const char *cell, *kind, *why, *host, *phase;
    int copy, rank;
};

json_t *record_fail_line(const struct record_death *death);
json_t *record_end_line(const char *status); /* with the time */

/* Removes an incomplete last line, then adds a fail line for `death` (NULL: none) and the end line. A
 * recording that has an end line is not changed; one without a complete line is deleted; a missing
 * one is ignored. GS_OK or GS_FAILED, reported. */
int record_end_write(const char *path, const char *status, const struct record_death *death);
