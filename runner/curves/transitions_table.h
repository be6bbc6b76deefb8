/* SPDX-License-Identifier: Apache-2.0
 *
 * transitions.csv in the terminal.
 */
#ifndef GS_TRANSITIONS_TABLE_H
#define GS_TRANSITIONS_TABLE_H

/* DIR/transitions.csv to stdout, a line for each platform, workload, kind and verdict: how many
 * there are, between which sizes, and the largest of them; fits and refused curves are left out.
 * GS_OK or reported. */
int transitions_print(const char *dir);

#endif
