/* SPDX-License-Identifier: Apache-2.0
 *
 * The first process of a lab. It makes the sites, probes them, and runs the command. The lab ends
 * when this process ends.
 */
#pragma once

#include "base/scratch.h"
#include "lab/spec.h"

#include <stdbool.h>

struct lab_options {
    const char *report; /* file for the description and both probes; NULL: none */
    bool quiet;
};

/* `folder`: an existing folder of the lab. Does not return. */
_Noreturn void init_run(const struct lab_spec *s, const struct lab_options *o,
                        const struct scratch *folder, char **command);
