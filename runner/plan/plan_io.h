/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan that a run folder holds, in config.ini and plan.json.
 */
#pragma once

#include "plan/plan.h"

#include <stdbool.h>

/* A run folder holds config.ini (a copy of the config) and plan.json. plan_read builds
 * the plan again from both, and fails if other cell ids come out (another plugin version). */
int plan_write(const struct plan *p, const char *dir);
int plan_read(struct plan **out, const char *dir);
