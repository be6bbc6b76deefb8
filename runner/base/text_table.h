/* SPDX-License-Identifier: Apache-2.0
 *
 * A table in the terminal.
 */
#pragma once

#include "base/text.h"

/* Prints the cells row by row, headings first, in aligned columns. Highlights the last cell of a row
 * if fine() is false for it, on a terminal with colours; fine NULL: in none. On a terminal the last
 * cell is wrapped to its width. If the table is too wide even so, the first `keys` columns become a
 * line above the rows that share them. */
void text_table_print(const struct words *cells, size_t columns, size_t keys,
                      bool (*fine)(const char *last));
/* The widths of the columns before the last, with two blanks each. */
size_t text_table_before_last(const struct words *cells, size_t columns);
