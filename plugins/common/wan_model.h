/* SPDX-License-Identifier: Apache-2.0
 *
 * The model of a synchronisation between sites, for wan_sync and for runner/wan: its strategies, shares over
 * unequal links, what a connection carries, the time of an all-reduce, and the best order of a ring.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The strategies of wan_sync: value; name, and the function of wan_model.c that gives its time; whether a
 * site sends to all others at once. strategy.c of wan_sync writes their schedules. */
#define WAN_EACH_STRATEGY(X)                                                                       \
    X(WAN_RING, ring, false)                                                                       \
    X(WAN_DIRECT, direct, true)                                                                    \
    X(WAN_ONESHOT, oneshot, true)                                                                  \
    X(WAN_HIERARCHICAL, hierarchical, false)
/* Those in recordings of wan_sync before 1.3.0. */
#define WAN_EACH_OLD_STRATEGY(X)                                                                   \
    X(WAN_RECURSIVE_DOUBLING, recursive_doubling, false)                                           \
    X(WAN_RABENSEIFNER, rabenseifner, false)

#define WAN_STRATEGY_VALUE(value, name, to_all) value,
#define WAN_STRATEGY_NAME(value, name, to_all) #name,
enum wan_strategy {
    WAN_EACH_STRATEGY(WAN_STRATEGY_VALUE) WAN_STRATEGIES,
    WAN_EACH_OLD_STRATEGY(WAN_STRATEGY_VALUE) WAN_RECORDED
};
/* In the order of the enum; NULL after those of wan_sync. */
extern const char *const wan_strategy_names[WAN_RECORDED];
extern const bool wan_strategy_to_all[WAN_RECORDED];

/* The number formats of wan_sync: value; name; bits. Below 16 bits a group shares a scale. */
#define WAN_EACH_WIRE(X)                                                                           \
    X(WIRE_FP32, fp32, 32)                                                                         \
    X(WIRE_BF16, bf16, 16)                                                                         \
    X(WIRE_INT8, int8, 8)                                                                          \
    X(WIRE_INT4, int4, 4)
#define WAN_WIRE_VALUE(value, name, bits) value,
#define WAN_WIRE_NAME(value, name, bits) #name,
#define WAN_WIRE_GROUP 128

/* Of the estimated rate of the uplink, the share that the transport tcp uses. */
#define WAN_HEADROOM 0.98

/* Direct exchange with unequal links: site i reduces the share x_i of the gradient. The shares add
 * up to 1 and minimise T = max_i D [1 + (S-2) x_i] / B_i. Returns T (without delays); x may be
 * NULL. */
double wan_shares(const double *up_Bps, size_t n, double bytes, double *x);

/* The same where pairs of sites are limited too: pair_Bps[from * n + to]. The slower direction
 * counts; INFINITY or 0: not limited. Of a site, end_Bps is the lesser of its uplink and its downlink. A
 * pair carries D (x_i + x_j) each way. For up to WAN_SHARES_MOST sites. Returns INFINITY if there is
 * no memory. */
#define WAN_SHARES_MOST 32
double wan_shares_of_pairs(const double *end_Bps, const double *pair_Bps, size_t n, double bytes,
                           double *x);

/* The time that the transport adds to a synchronisation: blocks are forwarded only when complete,
 * and TCP streams start with a small window and retransmit losses. Pure functions; SI units.
 *
 *   Slow start: after a pause longer than a retransmission time-out, a stream's window is back at
 *   ten segments (RFC 5681, 4.1; RFC 6928) and grows by the bytes that are acknowledged. A block waits
 *   until its stream's window has room, and the block that the next exchange makes from it waits as
 *   long.
 *
 *   Pace: the kernel spreads what a stream sends over half a round trip (tcp_update_pacing_rate, its
 *   slow start), and with BBR over the rate that the stream had when all were in use. After a pause the
 *   first gap is half as long (tcp_update_skb_after_send). Streams that carry one block at a time wait
 *   for this although the link is free.
 *
 *   Losses: a lost segment is sent again a quarter of a round trip after the next one is
 *   acknowledged, because it might only be late (RACK, RFC 8985, 6.2: reo_wnd). The kernel's timer
 *   rounds this up, to two ticks at least: 5/4 RTT + 2 / HZ after it was due. What waits behind it
 *   in its stream is late too, unless other blocks keep the link busy for that time. Losses are
 *   independent. Streams recover at the same time, so the stream with the most losses counts. The
 *   result models the median of a few samples, as times are measured: where half of all
 *   synchronisations lose nothing, it lies between the time with and without a delay. */

/* Smaller blocks cost more than pipelining gains. A larger one would wait a round trip on a stream that
 * was idle: the first window is ten packets, and 1368 bytes of each are payload inside WireGuard.
 * A change needs a new version of wan_sync, and a line in runner/reduce/wan_table.c. */
#define WAN_LEAST_BLOCK_B 8192
/* Blocks that a part is cut into, where they stay large enough: several times those that are under
 * way at once, one on every stream to every peer, for none is passed on before it is whole. */
#define WAN_PIECES 128

struct wan_carrier {
    double least_B, most_B; /* minimum and maximum block size */
    double pieces;          /* blocks per part, if they are then not smaller than least_B */
    double hop_s;           /* from a block's last byte to the first byte that is forwarded */
    double frame_B;         /* bytes of a block's head on the wire */
    double streams;         /* to each peer */
    double segment_B;       /* payload of a packet; 0: ignore windows and losses */
    double window;          /* initial window of a stream, in segments; 0: open */
    bool bbr;               /* each stream goes on at its part of the rate of all */
    double tick_s;          /* tick of the kernel's timers */
    double loss;            /* fraction of packets lost */
};

/* That of plugins/wan_sync. segment_B 0: not over tcp. */
struct wan_carrier wan_carrier_make(double block_B, double streams, double segment_B, bool bbr,
                                    double loss);

/* The time of an all-reduce between sites, by strategy: the model of runner/wan, and what wan_sync
 * chooses by. Pure functions; SI units. S sites, D bytes on each, B a site's uplink, L a one-way
 * delay, c = D / S; sources in runner/wan/net.h. */

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
