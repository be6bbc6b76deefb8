/* SPDX-License-Identifier: Apache-2.0
 *
 * A table in the terminal.
 */
#pragma once

#include "base/text.h"

/* Prints the cells row by row, headings first, in aligned columns. Highlights the last cell of a row
 * if fine() is false for it, on a terminal with colours; fine NULL: in none. On a terminal the last
 * cell is wrapped to its width. */
void text_table_print(const struct words *cells, size_t columns, bool (*fine)(const char *last));
