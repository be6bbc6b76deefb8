/* SPDX-License-Identifier: Apache-2.0
 *
 * One site of a lab: a network and a host name, with two devices. wan0 (10.77.0.x) has the rate and
 * delay of the config. ctl0 (10.78.0.x) has neither; it carries traffic that is not measured, such
 * as the launcher's.
 */
#pragma once

#include "lab/spec.h"

#include <sys/types.h>

/* Like fork: returns 0 in the child, which is the init; -1 on failure, reported. */
pid_t site_fork_init(void);

/* Call it once, in the child. Mounts a private /proc, and `hosts` over /etc/hosts. GS_OK or
 * GS_CANNOT, reported. */
int site_mount(const char *hosts);

struct site_devices {
    int wan, ctl; /* TUN, non-blocking */
};

/* Moves the caller to the new namespaces of site i and brings its devices up. `rmem_B`: maximum
 * socket buffer. GS_OK or GS_CANNOT, reported with a remedy. */
int site_make(const struct lab_spec *s, size_t i, double rmem_B, struct site_devices *d);
/* Socket buffer for a stream on the longest link: two bandwidth-delay products. */
double site_rmem_B(const struct lab_spec *s);

/* Allows a congestion control in new networks while the sites are made (see site.c). Call both in
 * the machine's own network. Without need or permission they do nothing. */
struct site_loan {
    int fd, lock; /* -1: nothing was changed */
    char *before;
};

void site_lend_congestion(struct site_loan *l, const char *name);
void site_return_congestion(struct site_loan *l);

/* Moves the caller to the network and the host name of a site, held by process `holder`. GS_OK or
 * GS_CANNOT, reported. */
int site_enter(const char *name, long holder);
