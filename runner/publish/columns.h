/* SPDX-License-Identifier: Apache-2.0
 *
 * The meaning of every table, column and derived quantity: `gradsync help WORD`, and the lists of
 * docs/tables.md.
 */
#pragma once

#include "base/text.h"
#include "store/column_words.h"

#include <stdbool.h>

/* Prints what `word` means: a table (samples.csv), a column (floor, median_s; its unit may be left
 * out) or a derived quantity (T_ss). False: it is none of them. `before` is printed first. */
bool columns_help(const char *word, const char *before);
/* "tables": lists the tables. False: another word. */
bool columns_list(const char *word);
/* Prints all tables and columns, as the lists of docs/tables.md. */
void columns_markdown(void);
/* Adds the names of tables, columns and quantities. */
void columns_names(struct words *names);
