/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the runner's own settings from a config.
 */
#pragma once

#include "config/config.h"
#include "config/settings_tables.h"
#include "workload.h"

/* ---- the sections of the runner ---- */

/* Fills *out with the defaults and then the config's values. Returns GS_OK, or GS_USAGE after every
 * fault was reported. */
int settings_read(const struct config *c, struct settings *out);

/* A time as Slurm writes it: "02:00:00", "1-00:00:00", "30:00". */
bool settings_slurm_time(const char *text, double *seconds);

/* A number of [limits], in SI units: "busbw", "link", "memory" ...; NaN if absent. */
double settings_limit(const struct config *c, const char *key);
