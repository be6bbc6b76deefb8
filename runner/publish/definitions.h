/* SPDX-License-Identifier: Apache-2.0
 *
 * The definitions of the paper's numbers, paper/macros.txt, one per line:
 *
 *   set VAR = VALUE, VALUE           the values of <VAR>
 *   set VAR = SELECT COLUMN FROM …   … distinct values from a table, in the order of the rows
 *   rows NAME over VAR VAR = TEXT    TEXT once for every combination of values: the body of a table
 *   NAME = FORM: SELECT …            a number
 *   NAME = FORM else TEXT: SELECT …  … or TEXT if there is no row
 *
 * <VAR> in a NAME makes one definition for each of its values, used in the whole line.
 * FORM says how a number is printed (form_find). The query reads one table (tables.h) and only rows
 * that are admissible (evidence.h). Its result is
 *   one row of one column, or of three: a value and the two ends of its interval
 *   rows of SELECT DISTINCT         the texts, separated by commas
 * A query that could give several rows must say which one it means: ORDER BY … LIMIT 1.
 * @NAME in a query is the value of another number, '@NAME' its text as in the table. FROM @GLOB
 * reads the numbers with such names: name, plain (the text) and value.
 */
#pragma once

#include "publish/tables.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Numbers as the paper prints them: UTF-8, in the unit that suits the value, with an interval
 * "841 µs [840, 842]" where one is given. An interval's width decides how many digits are shown. */
struct form;
const struct form *form_find(const char *name, struct sql_source at); /* NULL, reported: none */
/* Prints the text as it is in the table; it need not be a number. */
bool form_is_text(const struct form *f);

/* v[0], or v[0] between v[1] and v[2] when n is 3. The caller frees it. */
char *form_number(const struct form *f, const double *v, size_t n);

/* The same characters for TeX; the caller frees it. */
char *form_tex(const char *text);

struct macro {
    char *name, *form, *otherwise, *query; /* otherwise: after `else`, or NULL */
    int line;
};
struct body {
    char *name, *text;
};

struct definitions {
    char *path;
    struct macro *v;
    size_t n;
    json_t *places; /* name to index in v */
    struct body *bodies;
    size_t n_bodies;
};

/* GS_OK or reported: the file cannot be read, a line has another form, a name is defined twice. */
int definitions_read(struct definitions *d, const char *path, struct paper_tables *tables);
/* Adds "FORM: SELECT …" under a name. */
int definitions_add(struct definitions *d, const char *name, const char *text);
const struct macro *definitions_find(const struct definitions *d, const char *name);
/* The name nearest to the word, or NULL. */
const char *definitions_nearest(const struct definitions *d, const char *word);
void definitions_free(struct definitions *d);
