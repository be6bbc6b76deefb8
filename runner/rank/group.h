/* SPDX-License-Identifier: Apache-2.0
 *
 * The measurement of one group: its cells prepared together, warmed up, visited block after block
 * until they are known precisely enough, and released.
 */
#ifndef GS_GROUP_H
#define GS_GROUP_H

#include "rank/session.h"
#include "rank/visit.h"

/* Collective. plan->groups[index]; closed in the recording unless the course is BROKEN or HUNG, or
 * it was stopped before it was done. */
enum course group_measure(struct session *r, struct visit *v, size_t index);

#endif
