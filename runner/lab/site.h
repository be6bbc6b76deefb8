/* SPDX-License-Identifier: Apache-2.0
 *
 * One site of a lab: a network and a host name of its own, with two devices. wan0 (10.77.0.x) has
 * what the config says, ctl0 (10.78.0.x) neither rate nor delay, for what is no part of a
 * measurement: a launcher's own traffic.
 */
#ifndef GS_LAB_SITE_H
#define GS_LAB_SITE_H

#include "lab/spec.h"

#define SITE_WAN_NET "10.77.0."
#define SITE_CTL_NET "10.78.0."
#define SITE_FIRST_HOST 1 /* the first site is .1 */
#define SITE_RMEM_MIN_B (6 << 20)

struct site_devices {
    int wan, ctl; /* TUN, non-blocking */
};

/* Leaves the caller in the new namespaces of site i, its devices up. GS_OK or GS_CANNOT, reported
 * with what to do. `rmem_B`: of a socket's buffer, at most. */
int site_make(const struct lab_spec *s, size_t i, double rmem_B, struct site_devices *d);
/* What a stream needs on the longest line: two bandwidth-delay products. */
double site_rmem_B(const struct lab_spec *s);

/* Around the making of sites, from the machine's own network: see site.c. Does nothing where it is
 * not needed or not permitted. */
struct site_loan {
    int fd, lock; /* -1: nothing was asked for */
    char *before;
};
void site_lend_congestion(struct site_loan *l, const char *name);
void site_return_congestion(struct site_loan *l);

/* Moves the caller into the network and the name of the site that this process holds. GS_OK or
 * GS_CANNOT, reported. */
int site_enter(const char *name, long holder);

#endif
