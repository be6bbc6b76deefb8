/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of rates with their 95% intervals (Wilson), as CSV, each held to bounds.
 */
#pragma once

#include <stddef.h>

struct rate_bounds {
    const char *quantity, *method; /* no commas */
    double least, most;            /* what it is held to */
};

/* GS_OK, or GS_FAILED, reported: a rate is outside its bounds. */
int rates_report(const struct rate_bounds *rates, const size_t *hits, const size_t *trials,
                 size_t n);
