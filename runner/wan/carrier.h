/* SPDX-License-Identifier: Apache-2.0
 *
 * What carries the blocks of a synchronisation, as far as it costs time: blocks that are passed on
 * whole, and streams of TCP that begin with a small window and repeat what was lost. Pure; SI
 * units.
 *
 *   A pause of more than a retransmission time-out closes a stream's window to the first one, ten
 *   segments (RFC 5681, 4.1; RFC 6928), which then doubles every round trip (slow start): until it
 *   covers what is to be sent, or a round trip of the rate, each round trip has a part in which
 *   nothing is sent.
 *
 *   A lost segment is sent again when the one after it is acknowledged and a quarter of a round
 * trip more has passed, for it might only be late (RACK, RFC 8985, 6.2: reo_wnd), rounded up to the
 *   kernel's timer, which is set for two ticks at least: 5/4 RTT + 2 / HZ after it was due.
 *   A block that is late by that holds the next exchange up unless other blocks keep the line busy
 *   for so long. Of the exchanges with a loss the median is taken, as of the measured times: the
 *   number of losses is that of Poisson, an exchange with several is late once.
 */
#ifndef GS_WAN_CARRIER_H
#define GS_WAN_CARRIER_H

struct wan_carrier {
    double least_B, most_B; /* of a block */
    double pieces;          /* blocks of a part, where they stay that large */
    double hop_s;           /* from a block's last byte to the first that is sent on for it */
    double streams;         /* to each peer */
    double segment_B;       /* payload of a packet; 0: no windows, no losses */
    double window;          /* segments that a stream may send before it hears anything */
    double tick_s;          /* of the kernel's timers */
    double loss;            /* of packets */
};

/* The exchanges that a strategy is made of, one after the other, of equal sites. */
struct wan_course {
    double time_s; /* of all of them, with windows open and nothing lost */
    double exchanges;
    double sent_B; /* by a site in one of them */
    double peers;  /* that it goes to */
    double visits; /* exchanges with the same peers */
    double send_s; /* that the uplink is busy in one of them */
    double wait_s; /* from a block's first byte until it can be sent on: delay and block */
    double rtt_s;
    double sites;
};

/* Streams to each of `peers` that are sent to at once: so many that the first bursts of all of
 * them, two segments each, are about half of what the way holds, and no more than there are
 * (plugins/wan_sync, tcp_meter.c and tcp_peer.c). */
double wan_streams_used(const struct wan_carrier *c, double rate_Bps, double rtt_s, double peers);
/* Bytes of one of the blocks that a part is cut into. */
double wan_block_B(const struct wan_carrier *c, double part_B);
/* Seconds that slow start adds. */
double wan_opening_s(const struct wan_carrier *c, const struct wan_course *k);
/* Seconds that losses add, the median. */
double wan_repair_s(const struct wan_carrier *c, const struct wan_course *k);

#endif
