/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds the plan of one workload section.
 */
#pragma once

#include "plan/plan.h"

/* Takes ownership of config, even on failure. Returns GS_OK, or a code after an error was reported:
 * unknown key (with the nearest name), value out of range, empty sweep, unequal zip, a cell for
 * which describe() returns WL_FAIL. A cell that describe() skips stays in the plan, with the
 * reason. A cell whose shape is config_free gets the defaults of the WL_CONFIG parameters and the
 * label "". The seed is [measure] seed, or drawn if that is 0. */
int plan_build(struct plan **out, struct config *config, const char *section);

/* The steps of plan_build. plan_plugin loads the section's plugin; its errors name the section's
 * line. The others take ownership of config and plugin, even on failure; plan_build_from takes
 * settings that were read before. */
int plan_plugin(struct plugin **out, const struct config *config, const char *section);
int plan_build_with(struct plan **out, struct config *config, const char *section,
                    struct plugin *plugin);
int plan_build_from(struct plan **out, struct config *config, const char *section,
                    struct plugin *plugin, const struct settings *set);
