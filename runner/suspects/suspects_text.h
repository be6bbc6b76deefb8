/* SPDX-License-Identifier: Apache-2.0
 *
 * The suspects as lines, JSON and Prometheus gauges.
 */
#pragma once

#include "suspects/judge.h"

struct suspects_report {
    const struct suspects_data *d;
    const struct verdicts *v;
    const char *past;  /* id of the run that is the baseline; NULL: compared with peers */
    const char *later; /* the command that compares with this recording */
};

/* One line for each suspect, and one for each failure; without either, one that says so. */
void suspects_print(const struct suspects_report *r);
void suspects_print_json(const struct suspects_report *r);
/* Replaces the file atomically. GS_OK or reported. */
int suspects_write_prometheus(const struct suspects_report *r, const char *path);

/* ---- parts of them ---- */

extern const char *const suspect_kinds[SUSPECT_KINDS];
char *suspects_line(const struct suspects_report *r, const struct suspect *s); /* to be freed */
double suspects_percent(double log_ratio);

/* The tests in which the smallest and the largest slowdown would have been seen. */
struct suspects_seen {
    size_t least, most;
    bool any;
};
struct suspects_seen suspects_seen_in(const double *seen); /* of one kind, by test */
