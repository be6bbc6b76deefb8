/* SPDX-License-Identifier: Apache-2.0
 *
 * The launcher and everything that descends from it. This process is the subreaper: whoever loses
 * its parent becomes our child, so that all can be found and none outlives the family.
 */
#ifndef GS_FAMILY_H
#define GS_FAMILY_H

#include "base/interrupts.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct family {
    pid_t launcher;
    int out;    /* its stdout, non-blocking */
    bool ended; /* the launcher, with this wait status */
    int status;
    pid_t *before; /* children that we had already: not of the family */
    size_t n_before;
};

/* Starts argv in a process group of its own: stdin /dev/null, stdout a pipe, stderr to `log`. It
 * dies with this process. GS_OK, or GS_CANNOT, reported: the program cannot be executed. */
int family_start(struct family *f, char *const argv[], int log, const struct interrupts *i);
/* Takes in those that ended. */
void family_reap(struct family *f);
/* Kills whoever is left until nobody is; what they wrote can still be read from `out`. GS_FAILED,
 * reported, if one cannot be killed (it hangs inside the kernel) for 10 s. */
int family_kill(struct family *f);
/* The same, and frees. */
int family_end(struct family *f);

#endif
