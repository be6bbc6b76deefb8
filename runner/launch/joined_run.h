/* SPDX-License-Identifier: Apache-2.0
 *
 * `mpirun -n 2 gradsync run CONFIG | RUN`: the work of each process (joined.h).
 */
#pragma once

#include "launch/joined.h"
#include "launch/run.h"

/* Makes one attempt at the first incomplete launch. Rank 0 then reports the number of missing
 * launches, or makes a complete run final. Returns the exit code, errors reported. */
int joined_run(const struct joined *j, const char *what, const struct run_options *options);
