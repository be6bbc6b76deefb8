/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of an all-reduce between sites, by strategy: the model of runner/wan, and what wan_sync
 * chooses by. Pure functions; SI units. S sites, D bytes on each, B a site's uplink, L a one-way
 * delay, c = D / S; sources in runner/wan/net.h.
 */
#pragma once

#include "common/wan_carrier.h"
#include "common/wan_strategy.h"

#include <stdbool.h>
#include <stddef.h>

/* The network between the sites. Arrays of n, one element per site in ring order; owned by the
 * caller. */
struct wan_net {
    size_t n;
    const double *up_Bps;   /* uplink goodput of a site, limited by its streams and losses */
    const double *down_Bps; /* downlink goodput */
    const double *hop_s;    /* one-way delay to the next site of the ring */
    double farthest_s;      /* the longest one-way delay between any two sites */
    double lan_Bps;         /* inside a site, for WAN_HIERARCHICAL; 0: free */
    double ranks_per_site;  /* ranks that sum inside a site */
    /* For the other strategies: ranks per site that take part, adjacent in a ring, where transfers
     * inside a site take no time; 0: one. */
    double flat;
    bool equal_shares; /* of a direct exchange; else those of wan_shares(), or with pair_Bps of */
    /* wan_shares_of_pairs(): [from * n + to], and the lesser rate of a site's ends. NULL: no pair is
     * slower than its ends. */
    const double *pair_Bps, *end_Bps;
    const struct wan_carrier *carrier; /* NULL: bytes are forwarded at once, at the rates */
};

/* Seconds of one all-reduce of `bytes` over all sites; infinite if a link has rate 0. */
double wan_sync_s(enum wan_strategy strategy, const struct wan_net *net, double bytes);

/* The part of it in which the uplinks are busy: the rest is delays. */
double wan_busy_s(enum wan_strategy strategy, const struct wan_net *net, double bytes);

/* Bytes that one site sends in it. */
double wan_wire_bytes(enum wan_strategy strategy, size_t sites, double bytes);
