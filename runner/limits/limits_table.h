/* SPDX-License-Identifier: Apache-2.0
 *
 * limits.csv in the terminal.
 */
#ifndef GS_VERDICT_LIMITS_TABLE_H
#define GS_VERDICT_LIMITS_TABLE_H

/* DIR/limits.csv to stdout, worst first: every check of a claim that was published; of what was
 * measured the largest fraction of each platform, quantity and verdict, and of how many. GS_OK or
 * reported. */
int limits_print(const char *dir);

#endif
