/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints contrasts as tables, with a heading for each run and baseline.
 */
#pragma once

#include "compare/compare.h"

/* Prints to stdout. If the contrasts are against the fastest config of a mode, best_of is that mode,
 * and the output says for each run and mode how often that config is beaten. Else it is NULL. */
void comparison_print(const struct comparison *c, const char *best_of);
/* Writes "+1.25%", or "-" for NaN, into buf and returns buf. */
const char *comparison_percent(char *buf, size_t n, double log_ratio);
/* The same, valid until the end of the block. */
#define PERCENT(log_ratio) comparison_percent((char[32]){0}, 32, log_ratio)
