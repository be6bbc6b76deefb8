/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans and files: the plans of a config's sections, and the plan that a run folder holds.
 */
#pragma once

#include "plan/plan.h"

#include <jansson.h>
#include <stdbool.h>

/* ---- the sections of a config ---- */

/* Plans the workload sections of a config that the user selects. */

struct sections {
    struct plan **plans;
    size_t n;
    int left_out; /* GS_CANNOT: a section's plugin cannot be loaded on this machine, reported */
};

/* `workload`: name of a section, or of a plugin for all its sections; NULL: all sections. A fault
 * of the config is an error before anything runs. If a plugin cannot be loaded here, only its
 * sections are left out. GS_OK or reported. Call plan_sections_free in both cases. */
int plan_sections(struct sections *s, const char *config, const char *const *overrides,
                  const char *workload);
/* The same for a config that was read; the plans share it. */
int plan_sections_of(struct sections *s, struct config *c, const char *workload);
void plan_sections_free(struct sections *s);

/* "null" selects [null] and [null small]; "null small" only itself; NULL all. */
bool plan_sections_wanted(const char *section, const char *word);
/* Reports that no section is selected, with the nearest name. GS_USAGE. */
int plan_sections_none(const struct config *c, const char *word);

/* ---- a run folder ---- */

/* A run folder holds config.ini (a copy of the config) and plan.json. plan_read builds
 * the plan again from both, and fails if other cell ids come out (another plugin version). */
int plan_write(const struct plan *p, const char *dir);
int plan_read(struct plan **out, const char *dir);

/* section, workload, label, platform, overrides, seed, launches, ranks, nodes, config_sha256,
 * gradsync, groups [id], cells [{id, group, config, mode, params, size_B, busbw_factor, baseline,
 * skip}]. The caller owns the reference. */
json_t *plan_json(const struct plan *p);
