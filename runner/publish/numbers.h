/* SPDX-License-Identifier: Apache-2.0
 *
 * The paper's numbers: each definition with its value and the rows behind it, calculated on first
 * use.
 */
#pragma once

#include "publish/answer.h"

/* Keeps pointers to the folder names of `tables`, which the caller owns. GS_OK or reported. */
int numbers_open(struct numbers *b, const char *path, struct paper_tables tables);
/* Call it after the last definitions_add. */
void numbers_close(struct numbers *b);

/* GS_OK with *out; its `gap` says which data is missing. GS_USAGE, reported: a wrong definition, an
 * unknown name (with the nearest), or numbers that refer to each other in a circle. */
int numbers_answer(struct numbers *b, const char *name, struct answer **out);
