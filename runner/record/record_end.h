/* SPDX-License-Identifier: Apache-2.0
 *
 * The last lines of a recording whose writer died before it could write them.
 */
#ifndef GS_RECORD_END_H
#define GS_RECORD_END_H

/* What killed the writer, as its fail line says it. The strings are the caller's. */
struct record_death {
    const char *cell, *kind, *why, *host, *phase;
    int copy, rank;
};

/* Cuts a torn tail, adds a fail line for `death` (NULL: none) and the end line, unless the writer
 * has closed it. One without a whole line is removed: it records nothing. No file: nothing to do.
 * GS_OK or GS_FAILED, reported. */
int record_end_write(const char *path, const char *status, const struct record_death *death);

#endif
