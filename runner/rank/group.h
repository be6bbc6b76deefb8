/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures one group: prepares its cells together, warms them up, visits them block after block until
 * the result is precise enough, and releases them.
 */
#pragma once

#include "rank/session.h"
#include "rank/visit.h"

/* Collective. Measures plan->groups[index]. The group is closed in the recording unless the result is
 * BROKEN or HUNG, or the run was stopped before the group was done. */
enum course group_measure(struct session *r, struct visit *v, size_t index);
