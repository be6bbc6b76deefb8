/* SPDX-License-Identifier: Apache-2.0
 *
 * The meaning of every table, column and derived quantity: `gradsync help WORD`, and the lists of
 * docs/tables.md.
 */
#pragma once

#include "base/csv_read.h"
#include "base/text.h"

#include <stdbool.h>

#define COLUMN_TEXT "text"
#define PARAM_COLUMNS CSV_PARAM CSV_PARAM_ANY /* in a list of columns: all param_NAME */

struct column {
    const char *name, *type, *help;
    const char *file; /* in which the name has this meaning; NULL: in all tables */
};
/* A value that is no column, or a name for one. */
struct term {
    const char *name, *unit, *help;
};
extern const struct column column_words[]; /* ends with a NULL name */
extern const struct term terms[];          /* the same */

/* Prints what `word` means: a table (samples.csv), a column (floor, median_s; its unit may be left
 * out) or a derived quantity (T_ss). False: it is none of them. `before` is printed first. */
bool columns_help(const char *word, const char *before);
/* "tables": lists the tables. False: another word. */
bool columns_list(const char *word);
/* Prints all tables and columns, as the lists of docs/tables.md. */
void columns_markdown(void);
/* Adds the names of tables, columns and quantities. */
void columns_names(struct words *names);
