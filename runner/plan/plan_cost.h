/* SPDX-License-Identifier: Apache-2.0
 *
 * What a plan takes, in time and memory, and the table of `gradsync plan`.
 */
#pragma once

#include "plan/plan.h"

/* An estimate of the time and memory that a run needs. */
struct plan_cost {
    double time_s;             /* all launches, if every group converges at once */
    double most_s;             /* if none converges: budgets and max_blocks stop them */
    uint64_t host_B, device_B; /* of the largest group, on one rank */
};
struct plan_cost plan_cost(const struct plan *p);
uint64_t plan_free_memory(void); /* bytes free on the machine and in its control groups */
/* GS_OK, or GS_CANNOT, reported, if the largest group needs more than the free memory. */
int plan_memory_check(const struct plan *p);

/* Prints the cells as a table: ids, config, mode and the parameters that vary. `all`: every cell; else,
 * of a long plan, the first and the last few. */
void plan_table(const struct plan *p, bool all);
