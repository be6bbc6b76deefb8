/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the rows of a query. Names, units and types of the columns are those of column_words.h.
 */
#pragma once

#include "store/store.h"

enum print_format { PRINT_TEXT, PRINT_CSV, PRINT_JSON, PRINT_LINES, PRINT_TEX, PRINT_FORMATS };
extern const char *const print_formats[PRINT_FORMATS];

struct printing {
    enum print_format format;
    const char *const *parameters;  /* "NAME=TEXT" of each :NAME, ends with NULL; NULL: none */
    size_t keys;                    /* of text: columns that may stand above their rows */
    size_t most;                    /* rows of text; 0: all */
    bool (*fine)(const char *last); /* of text: not highlighted; NULL: every row is fine */
    size_t rows;                    /* out: rows of the query */
};

/* Text gives numbers with their unit, three digits; CSV, JSON and lines give them whole,
 * in SI base units. Lines have no titles, and no cells of NULL. CREATE TEMP TABLE and CREATE TEMP VIEW
 * may stand before the query. GS_OK, or reported: GS_USAGE if SQLite does not understand it. */
int print_query(struct store *s, const char *sql, struct printing *how);

/* Prints the rows of a query of one text column, but those of NULL: by line(), which also ends the line;
 * NULL: as they are. GS_OK or reported. */
int print_lines(struct store *s, const char *sql, void (*line)(const char *text));

/* For queries that print text: human(VALUE, UNIT), human_size(BYTES), short_size(BYTES) ("8"
 * for "8 B"), human_change(RATIO), shorten(TEXT, CHARACTERS); param(PARAMS, NAME) is the value of one
 * parameter, and by_name(PARAMS) has them in the order of their names. Of the values of a group: median(X)
 * and its 95% interval, median_low(X) to median_high(X), and mean_error(X), by which Student's t lies on
 * both sides of avg(X). */
int print_functions(struct store *s); /* GS_OK or reported */
