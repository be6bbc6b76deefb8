/* SPDX-License-Identifier: Apache-2.0
 *
 * Overrides: `--set SECTION:KEY=VALUE` on the command line.
 */
#pragma once

#include "config/config_entries.h"

/* Applies the overrides in order and keeps a copy in c->overrides. Returns GS_OK, or GS_USAGE after
 * every fault was reported: a wrong form, an unknown workload section. The caller checks the keys. */
int config_set_all(struct config *c, const char *const *overrides);
