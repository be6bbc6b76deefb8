/* SPDX-License-Identifier: Apache-2.0
 *
 * The workload sections of a config that a run is asked for, as plans.
 */
#ifndef GS_SECTIONS_H
#define GS_SECTIONS_H

#include "plan/plan.h"

#include <stdbool.h>

struct sections {
    struct plan **plans;
    size_t n;
    int left_out; /* GS_CANNOT: a section's plugin cannot be loaded on this machine, reported */
};

/* `workload`: one section by its name, or all of one plugin; NULL: all. A fault of the config ends
 * it before anything runs; a plugin that cannot be loaded here costs its own section alone. GS_OK
 * or reported; sections_free in both cases. */
int sections_plan(struct sections *s, const char *config, const char *const *overrides,
                  const char *workload);
void sections_free(struct sections *s);

/* "null" is [null] and [null small]; "null small" is itself alone; NULL all. */
bool sections_wanted(const char *section, const char *word);
int sections_none(const struct config *c,
                  const char *word); /* GS_USAGE, reported, the nearest named */

#endif
