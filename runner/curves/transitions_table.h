/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints transitions.csv in the terminal.
 */
#ifndef GS_TRANSITIONS_TABLE_H
#define GS_TRANSITIONS_TABLE_H

/* Prints a line for each platform, workload, kind and verdict in DIR/transitions.csv: how many there
 * are, between which sizes, and the largest change. Leaves out fits and refused curves. GS_OK or
 * reported. */
int transitions_print(const char *dir);

#endif
