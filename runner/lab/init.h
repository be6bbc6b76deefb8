/* SPDX-License-Identifier: Apache-2.0
 *
 * The first process of a lab: makes its sites, proves them, runs the command, and ends the lab by
 * ending.
 */
#ifndef GS_LAB_INIT_H
#define GS_LAB_INIT_H

#include "base/scratch.h"
#include "lab/spec.h"

#include <stdbool.h>

struct lab_options {
    const char *report; /* a file for the facts and what was measured; NULL: none */
    bool quiet;
};

/* `folder`: the lab's, there already. Does not return. */
_Noreturn void init_run(const struct lab_spec *s, const struct lab_options *o,
                        const struct scratch *folder, char **command);

#endif
