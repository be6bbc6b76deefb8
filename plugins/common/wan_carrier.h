/* SPDX-License-Identifier: Apache-2.0
 *
 * The time that the transport adds to a synchronisation: blocks are forwarded only when complete,
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
 *   synchronisations lose nothing, it lies between the time with and without a delay.
 */
#pragma once

#include <stdbool.h>

/* Smaller blocks cost more than pipelining gains. A larger one would wait a round trip on a stream that
 * was idle: the first window is ten packets, and 1368 bytes of each are payload inside WireGuard.
 * A change needs a new version of wan_sync, and a line in runner/reduce/measured.c. */
#define WAN_LEAST_BLOCK_B 8192

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

/* The exchanges of a strategy, one after the other, between equal sites. */
struct wan_course {
    double time_s; /* all exchanges, without slow start and losses */
    double exchanges;
    double sent_B;  /* bytes that a site sends in one exchange */
    double peers;   /* peers that a site sends to in one exchange */
    double visits;  /* number of exchanges with the same peers */
    double send_s;  /* time that the uplink is busy in one exchange */
    double wait_s;  /* from a block's first byte until it can be forwarded: delay and block */
    double block_s; /* the block's part of it */
    double rtt_s;
    double sites;
};

/* Streams used per peer when sending to `peers` peers at once: as many as have first bursts (two
 * segments each) of about half of rate x RTT together, and at most those that exist
 * (plugins/wan_sync, tcp_pace.c and tcp_stream.c). */
double wan_streams_used(const struct wan_carrier *c, double rate_Bps, double rtt_s, double peers);
/* What a paced stream sends at once: two segments. */
double wan_burst_B(const struct wan_carrier *c);
/* Bytes that streams carry for each byte of a part: each block has a head, and is answered. A ring of
 * 4 MiB sent 6.75 MB of IP packets a site, and 6.63 MB without them. */
double wan_framed(const struct wan_carrier *c, double part_B);
/* Size of the blocks of a part. */
double wan_block_B(const struct wan_carrier *c, double part_B);
/* Seconds that slow start adds. */
double wan_opening_s(const struct wan_carrier *c, const struct wan_course *k);
/* Median of the seconds that losses add. */
double wan_repair_s(const struct wan_carrier *c, const struct wan_course *k);
