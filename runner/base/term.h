/* SPDX-License-Identifier: Apache-2.0
 *
 * Output for a terminal: colours, columns, tables.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- colours ---- */

/* None on a dumb terminal or with NO_COLOR set (no-color.org). */

/* Escape sequences: start bold text, end it. "" if colours are off. */
const char *term_bold(FILE *f);
const char *term_end(FILE *f);

/* ---- columns ---- */

#define SCREEN_COLUMNS 100

/* The columns of the terminal, at most SCREEN_COLUMNS and at least 60; SCREEN_COLUMNS into a pipe or
 * a file. */
size_t screen_columns(FILE *f);
/* Prints a sentence: on a terminal in lines of its width, into a pipe or a file in one. */
void screen_say(const char *s);
/* Prints the words of s from `column` on, in lines of `width`; further lines begin at `indent`. */
void screen_wrap(size_t column, size_t indent, size_t width, const char *s);

/* ---- tables ---- */

/* Prints the cells row by row, headings first, in aligned columns. Highlights the last cell of a row
 * if fine() is false for it, on a terminal with colours; fine NULL: in none. On a terminal the last
 * cell is wrapped to its width. If the table is too wide even so, the first `keys` columns become a
 * line above the rows that share them. */
void text_table_print(const struct words *cells, size_t columns, size_t keys,
                      bool (*fine)(const char *last));
