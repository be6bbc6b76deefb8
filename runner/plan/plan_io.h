/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan as JSON, for plan.json and `gradsync plan --json`.
 */
#pragma once

#include "plan/plan.h"

#include <jansson.h>

/* section, workload, label, platform, overrides, seed, launches, ranks, nodes, config_sha256,
 * gradsync, groups [id], cells [{id, group, config, mode, params, size_B, busbw_factor, baseline,
 * skip}]. The caller owns the reference. */
json_t *plan_json(const struct plan *p);
