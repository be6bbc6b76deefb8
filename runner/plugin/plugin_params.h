/* SPDX-License-Identifier: Apache-2.0
 *
 * The parameters of all plugins, for a lookup by name.
 */
#pragma once

#include "base/text.h"
#include "workload.h"

/* Calls take(arg, PLUGIN, p) for each parameter of each named plugin. A plugin that cannot be loaded
 * here is left out: it may need a library that this machine does not have. */
void plugin_each_param(const struct words *names, void *arg,
                       void take(void *arg, const char *plugin, const struct wl_param *p));
/* Adds the names of these parameters, each once. */
void plugin_param_names(struct words *params, const struct words *plugins);
