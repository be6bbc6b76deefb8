/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as macros for TeX (`gradsync query --format tex`). Each row of a query is one macro:
 *   name, form, value [, low, high [, otherwise]]
 * FORM says how the value is printed: text, integer, ratio, times, percent, change (of a ratio), time,
 * bits, size; `rows` is TeX as it stands, the body of a table. low and high are the ends of an interval,
 * or NULL. `otherwise` is TeX that is printed where the value is NULL; without it that is an error.
 */
#pragma once

#include "store/store.h"

/* Prints the rows of one or more SELECTs: gs@v@NAME is a number, gs@rows@NAME the body of a table. GS_OK, or reported: a query or a row is wrong. */
int tex_print(struct store *s, const char *sql);
