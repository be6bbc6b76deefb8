/* SPDX-License-Identifier: Apache-2.0
 *
 * `mpirun -n 2 gradsync run CONFIG | RUN`: what each of the processes does (joined.h).
 */
#ifndef GS_JOINED_RUN_H
#define GS_JOINED_RUN_H

#include "launch/joined.h"
#include "launch/run.h"

/* One attempt at the first launch that lacks something; rank 0 says how many are still missing and
 * makes a complete run final. Returns the exit code, reported. */
int joined_run(const struct joined *j, const char *what, const struct run_options *options);

#endif
