/* SPDX-License-Identifier: Apache-2.0
 *
 * Which contrasts of a solved comparison are shown. Verdicts are computed first, so a filter changes
 * no number.
 */
#pragma once

#include "compare/compare.h"

struct compare_filter { /* NULL: any */
    const char *size, *mode, *platform, *config;
};

/* *shown has those of c that match. It borrows them: free only shown->v. GS_OK; or GS_USAGE,
 * reported: a value that no contrast has. */
int compare_filter(const struct compare_filter *f, const struct comparison *c,
                   struct comparison *shown);
