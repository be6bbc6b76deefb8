/* SPDX-License-Identifier: Apache-2.0
 *
 * The meaning of every column, in the tables of the store and in their exports. The unit of a number
 * is the end of its name: _s, _B, _Bps.
 */
#pragma once

#include "base/csv.h"

#include <stddef.h>

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

/* The column of a table, "samples" or "param"; table NULL: of any. NULL: no table has such a column. */
const struct column *column_find(const char *table, const char *name);
/* "REAL", "INTEGER" or "TEXT": the type of the column in the store. */
const char *column_sql_type(const char *table, const char *name);
/* "s", "B/s", …; "": it has none. *n: the length of the name without it. */
const char *column_unit(const char *name, size_t *n);
