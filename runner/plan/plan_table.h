/* SPDX-License-Identifier: Apache-2.0
 *
 * The cells of a plan as a table on stdout: ids, config, mode and the parameters that vary.
 */
#pragma once

#include "plan/plan.h"

/* `all`: every cell; else, of a long plan, the first and the last few. */
void plan_table(const struct plan *p, bool all);
