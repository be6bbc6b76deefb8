/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as the paper prints them: UTF-8, in the unit that suits the value, with an interval
 * "841 µs [840, 842]" where one is given. An interval's width decides how many digits are shown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct form;
const struct form *form_find(const char *name); /* NULL: none */
const char *form_nearest(const char *name);     /* or NULL */
char *form_names(void);                         /* "a, b, c"; the caller frees it */
/* Prints the text as it is in the table; it need not be a number. */
bool form_is_text(const struct form *f);

/* v[0], or v[0] between v[1] and v[2] when n is 3. The caller frees it. */
char *form_number(const struct form *f, const double *v, size_t n);

/* The same characters for TeX; the caller frees it. */
char *form_tex(const char *text);
