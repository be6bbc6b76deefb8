/* SPDX-License-Identifier: Apache-2.0
 *
 * The links between sites, from a recording of wan_links: for each direction of each pair the rate alone,
 * RTT, loss and MTU, and what each site sent and received while all sent to all. Prints them, and writes
 * them into a config. Rates count IP packets, in bytes/s; each is the best of all blocks, but none is above
 * the line of a lab. Matrices are [from * n + to]; NaN: unknown.
 */
#pragma once

#include <stddef.h>

struct links {
    size_t n;
    char **names; /* of the sites: numbers until the caller sets them */
    double *rate_Bps, *rtt_s, *loss, *mtu_B;
    double *line_Bps;          /* what a lab gives */
    double *up_Bps, *down_Bps; /* [n], by site: while all send to all; NaN: not measured */
    char congestion[16];       /* of the kernel */
};

/* GS_OK, or reported: damaged, not of wan_links, or a pair is missing. Call links_free in both cases. */
int links_read(struct links *l, const char *dir);
void links_free(struct links *l);

void links_print(const struct links *l);
/* A config with these links: [links] and up and down of [sites] are replaced, a line LINKS_ADDED
 * and all below it is left out. `origin` names the run. The caller frees it. */
#define LINKS_ADDED "# Added by gradsync links:"
char *links_config_text(const struct links *l, const char *config, const char *origin);
