/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that are worked out from others: the definitions whose table is "=" (define.h).
 */
#ifndef GS_PAPER_DERIVE_H
#define GS_PAPER_DERIVE_H

#include "publish/numbers.h"

/* Fills v and plain, or gap. GS_OK, or GS_USAGE, reported. */
int derive(struct book *b, struct answer *a);

#endif
