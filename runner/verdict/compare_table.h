/* SPDX-License-Identifier: Apache-2.0
 *
 * Contrasts as a table in the terminal, a heading for each run and baseline.
 */
#ifndef GS_VERDICT_COMPARE_TABLE_H
#define GS_VERDICT_COMPARE_TABLE_H

#include "compare.h"

/* To stdout. */
void comparison_print(const struct comparison *c);

#endif
