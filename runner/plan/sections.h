/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans the workload sections of a config that the user selects.
 */
#pragma once

#include "plan/plan.h"

#include <stdbool.h>

struct sections {
    struct plan **plans;
    size_t n;
    int left_out; /* GS_CANNOT: a section's plugin cannot be loaded on this machine, reported */
};

/* `workload`: name of a section, or of a plugin for all its sections; NULL: all sections. A fault
 * of the config is an error before anything runs. If a plugin cannot be loaded here, only its
 * sections are left out. GS_OK or reported. Call sections_free in both cases. */
int sections_plan(struct sections *s, const char *config, const char *const *overrides,
                  const char *workload);
/* The same for a config that was read; the plans share it. */
int sections_of(struct sections *s, struct config *c, const char *workload);
void sections_free(struct sections *s);

/* "null" selects [null] and [null small]; "null small" only itself; NULL all. */
bool sections_wanted(const char *section, const char *word);
/* Reports that no section is selected, with the nearest name. GS_USAGE. */
int sections_none(const struct config *c, const char *word);
