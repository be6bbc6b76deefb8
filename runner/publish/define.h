/* SPDX-License-Identifier: Apache-2.0
 *
 * The definitions of the paper's numbers, paper/macros.txt, a line each, fields between bars:
 *
 *   set | VAR | value, value             what <VAR> runs over
 *   set | VAR | TABLE: CLAUSES | KEY     … the values that KEY has in these rows, in their order
 *   rows | NAME | VAR VAR | TEXT         TEXT once for every value of each VAR: the body of a table
 *   NAME | TABLE | CLAUSES | VALUE | FORM | ELSE
 *
 * <VAR> in a NAME makes a definition for each of its values; it stands for the value in all fields.
 * CLAUSES are as in select.h; a TEXT of "@NAME" there is the plain value of another number. VALUE
 * is COLUMN, COLUMN, COLUMN       of the one row that is meant: a number, or one with its interval
 *   … at min COLUMN, at max …    of the row where COLUMN is least or greatest
 *   count                        how many rows;   groups KEY KEY: how many combinations of values
 *   distinct COLUMN              the values, each once, in the order of their letters
 * and for the TABLE "=" a row of NAMEs and numbers with + - * / between them, from left to right;
 * or "tally TEXT GLOB", how many numbers whose name is like GLOB have that plain value; "within LOW
 * HIGH GLOB", how many of them lie between; "most GLOB", "least GLOB"; "same NAME NAME", 1 or 0.
 * FORM is a name of format.h. ELSE, if there is one, stands where no row is meant.
 */
#ifndef GS_PAPER_DEFINE_H
#define GS_PAPER_DEFINE_H

#include "publish/paper_tables.h"

enum { DEF_NAME, DEF_TABLE, DEF_WHERE, DEF_VALUE, DEF_FORM, DEF_ELSE, DEF_FIELDS };

struct macro {
    char *field[DEF_FIELDS]; /* ELSE is NULL where none was given */
    int line;
};
struct body {
    char *name, *text;
    int line;
};

struct definitions {
    char *path;
    struct macro *v;
    size_t n;
    struct body *bodies;
    size_t n_bodies;
};

/* GS_OK or reported: a file that cannot be read, a line that is none of these, a name twice. */
int definitions_read(struct definitions *d, const char *path, struct shelf *shelf);
/* One more, "TABLE | CLAUSES | VALUE | FORM", under a name. */
int definitions_add(struct definitions *d, const char *name, const char *text);
const struct macro *definitions_find(const struct definitions *d, const char *name);
/* The name nearest to the word, or NULL. */
const char *definitions_nearest(const struct definitions *d, const char *word);
void definitions_free(struct definitions *d);

#endif
