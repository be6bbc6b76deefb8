/* SPDX-License-Identifier: Apache-2.0
 *
 * The suspects as lines, JSON and Prometheus gauges.
 */
#pragma once

#include "suspects/suspects_data.h"
#include "suspects/suspects_judge.h"

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
