/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a report of nccl-tests, before and after the JSON library reads it. The times of the
 * iterations are most of it: the library would take ten times as long for them, and eight times their
 * size in memory.
 */
#pragma once

#include "base/text.h"

#include <jansson.h>
#include <stdbool.h>

/* The report; each list "times_us" of numbers has only the place of its first number, so that every
 * such list of one integer is a place. False: nothing was cut. */
bool json_text_cut(struct text *out, const struct text *report);
/* The first number of a list that was cut; NULL: it was not. */
const char *json_text_times(const struct text *report, const json_t *times);
/* Reads the number at s. Returns the next one; NULL: it was the last. */
const char *json_text_number(const char *s, double *us);
/* Cuts a report that broke off behind its last whole member or row, and closes it there; false: it
 * did not break off. */
bool json_text_close(struct text *t);
