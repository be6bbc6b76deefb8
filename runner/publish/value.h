/* SPDX-License-Identifier: Apache-2.0
 *
 * VALUE of a definition (define.h), from the rows that are meant.
 */
#ifndef GS_PAPER_VALUE_H
#define GS_PAPER_VALUE_H

#include "publish/numbers.h"

/* Fills plain and v of `a` from a->rows of a->grid, leaving in a->rows those that count; or a->gap.
 * GS_OK, or GS_USAGE, reported. */
int value_of_rows(struct answer *a, struct place at);

#endif
