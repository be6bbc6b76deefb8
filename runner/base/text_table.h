/* SPDX-License-Identifier: Apache-2.0
 *
 * A table in the terminal.
 */
#ifndef GS_TEXT_TABLE_H
#define GS_TEXT_TABLE_H

#include "base/text.h"

/* To stdout: the cells row by row, headings first, in columns as wide as their widest (UTF-8 is
 * counted in characters). A last cell for which fine() is false stands out, where there is colour.
 */
void text_table_print(const struct words *cells, size_t columns, bool (*fine)(const char *last));

/* Characters of UTF-8. */
size_t text_width(const char *s);

#endif
