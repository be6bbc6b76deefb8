/* SPDX-License-Identifier: Apache-2.0
 *
 * Which host is cut off, from what the hosts say of each other. A host that is cut off has lost all
 * others, and they have lost it; where a link is cut, two hosts have lost each other.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

#define CUT_HOSTS 64 /* reports of further hosts are dropped */

struct cut {
    char host[CUT_HOSTS][64];
    bool apart[CUT_HOSTS][CUT_HOSTS]; /* one of the two has lost the other */
    size_t n;
};

/* `host` has lost these: their names, with a space after each. */
void cut_add(struct cut *c, const char *host, const char *lost);

/* Adds one line of text: the hosts that are cut off, then the other pairs that have lost each other.
 * Returns a host that it names. Uses `c` up; not for one in which nobody has lost another. */
const char *cut_judge(struct cut *c, struct text *t);
