/* SPDX-License-Identifier: Apache-2.0
 *
 * How much a verb prints if nobody asks for everything.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#define SCREEN_COLUMNS 100

/* The number of lines of the terminal, less two for the prompt; into a pipe or a file 24. */
size_t screen_lines(FILE *f);
/* The columns of the terminal, at most SCREEN_COLUMNS and at least 60; SCREEN_COLUMNS into a pipe or
 * a file. */
size_t screen_columns(FILE *f);
/* Prints a sentence: on a terminal in lines of its width, into a pipe or a file in one. */
void screen_say(const char *s);
/* The same from `column` on; further lines begin at `indent`. */
void screen_say_from(size_t column, size_t indent, const char *s);

/* Prints the words of s from `column` on, in lines of `width`; further lines begin at `indent`. */
void screen_wrap(size_t column, size_t indent, size_t width, const char *s);
