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

/* Adds a config as .ini text. Each rank has one partner a round; all pairs of a round run at
 * once. */
void suspects_config(struct text *t, size_t ranks, bool cuda);

struct suspects_launch {
    size_t ranks;
    bool device; /* the platform names a GPU */
};

/* Adds the [platform] and [launch] of a user's config as "section:key=value". GS_OK or reported. */
int suspects_config_launch(struct words *overrides, struct suspects_launch *launch,
                           const char *path);
