/* SPDX-License-Identifier: Apache-2.0
 *
 * The workload of [train], whose parameters are the keys of that section. It has tables and
 * describe() only: runner/job/ measures it.
 */
#pragma once

#include "config/config_entries.h"
#include "plugin/plugin.h"

/* GS_OK or GS_USAGE, every fault reported. A key with several values is a WL_CONFIG parameter, unless
 * `axes` names it. */
int plugin_train(struct plugin **out, const struct config *c, const char *section);
