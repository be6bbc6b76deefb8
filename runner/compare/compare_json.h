/* SPDX-License-Identifier: Apache-2.0
 *
 * Which contrasts of a solved comparison are printed, and their JSON.
 */
#pragma once

#include "compare/verdicts.h"

/* Which contrasts are shown. Verdicts are computed first, so a filter changes no number. */
struct compare_filter { /* NULL: any */
    const char *size, *mode, *platform, *config;
};

/* *shown has those of c that match. It borrows them: free only shown->v. GS_OK; or GS_USAGE,
 * reported: a value that no contrast has. */
int compare_filter(const struct compare_filter *f, const struct comparison *c,
                   struct comparison *shown);

/* `gradsync compare --json` (docs/formats.md): one object with the best config of each group that has a contrast in c, and these contrasts. */
void comparison_print_json(const struct comparison *c, const struct winners *w);
