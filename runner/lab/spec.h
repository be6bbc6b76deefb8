/* SPDX-License-Identifier: Apache-2.0
 *
 * What a lab is to be: the [sites] and [links] of a config (wan/net.h) as a relay and namespaces
 * need them. Rates count IP packets, headers included. Units: bytes, bytes/s, seconds.
 */
#ifndef GS_LAB_SPEC_H
#define GS_LAB_SPEC_H

#include "config/config.h"
#include "workload.h"

#include <stddef.h>
#include <stdint.h>

#define LAB_SITES_MAX 32
/* What is slower or longer has lost its unit, and would be measured for minutes. */
#define LAB_RATE_MIN_BPS 125e3
#define LAB_RTT_MAX_S 5.0
#define LAB_MTU_B 9000 /* where [links] says none: what sites that own their lines agree on */

struct lab_site {
    char name[WL_TEXT_MAX];
    double up_Bps, down_Bps;
    double up_queue_B, down_queue_B; /* what waits at its end of the line, at most */
};

/* One direction between two sites. */
struct lab_way {
    double rate_Bps; /* 0: as the sites' ends */
    double queue_B;  /* in front of that rate */
    double delay_s;  /* half the RTT of this direction */
    double loss;
    size_t *lines; /* shared lines it runs over, n_lines of them */
    size_t n_lines;
};

struct lab_line {
    double rate_Bps, queue_B;
};

struct lab_spec {
    size_t n; /* sites */
    struct lab_site *sites;
    struct lab_way *ways; /* [from * n + to] */
    struct lab_line *lines;
    size_t n_lines;
    int mtu_B;
    const char *congestion; /* as the kernel names it */
    uint64_t seed;          /* of the losses */
    double late_share;      /* of packets that a block may have: lab/lateness.h */
};

/* GS_OK or GS_USAGE, reported; lab_spec_free in both cases. */
int lab_spec_read(struct lab_spec *s, const struct config *c);
void lab_spec_free(struct lab_spec *s);

const struct lab_way *lab_way_of(const struct lab_spec *s, size_t from, size_t to);
/* There and back, without what queues and rates add. */
double lab_rtt_s(const struct lab_spec *s, size_t a, size_t b);
double lab_max_rtt_s(const struct lab_spec *s);
double lab_slowest_Bps(const struct lab_spec *s); /* of all ends and lines */
/* The row of a name, or s->n. */
size_t lab_site_find(const struct lab_spec *s, const char *name);

#endif
