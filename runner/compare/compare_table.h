/* SPDX-License-Identifier: Apache-2.0
 *
 * Contrasts as a table in the terminal, a heading for each run and baseline.
 */
#ifndef GS_COMPARE_TABLE_H
#define GS_COMPARE_TABLE_H

#include "compare/compare.h"

/* To stdout; best_of, NULL: none, is the mode whose best the contrasts are against: then how often
 * it is beaten as well, by run and mode. */
void comparison_print(const struct comparison *c, const char *best_of);
/* "+1.25%", "-" for NaN; into buf, which is returned. */
const char *comparison_percent(char *buf, size_t n, double log_ratio);

#endif
