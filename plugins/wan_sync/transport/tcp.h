/* SPDX-License-Identifier: Apache-2.0
 *
 * The tcp transport: K connections ("streams") between every two ranks. A block uses one stream,
 * and a stream with room takes the next block for its peer. A rank estimates the rate of its
 * uplink, and paces all its streams together to slightly less.
 *
 * After a pause, the first bursts of the streams (two segments each) may fill about half of rate x
 * RTT, over all peers; at least one stream to each peer starts. More would overflow queues before
 * pacing has an effect: 24 streams with segments of 9000 bytes do so at 100 Mbit/s and 30 ms.
 *
 * Nothing is read from a connection before it has shown the cookie of the link (tcp_join.c), which keeps
 * strangers out. It does not hide or protect what is sent: between sites, use WireGuard. A stream that
 * breaks is reopened, and its undelivered blocks are sent again. For how long a rank waits for a peer is
 * the caller's time-out.
 *
 * Memory: at most 18 MiB of sent blocks are kept until the peer has them. Blocks may arrive before
 * their buffer is posted: up to 22 MiB from all peers together, and one block of each peer. A peer
 * that is further ahead waits until it is granted more.
 */
#pragma once

#include "wan_sync/transport/link.h"
#include "workload.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define TCP_STREAMS_MAX 64

struct tcp_options {
    int streams;            /* between two ranks, 1 to TCP_STREAMS_MAX */
    const char *interface;  /* use only its addresses; "": all but loopback */
    int port;               /* listen on port + local rank; 0: any free port */
    const char *addresses;  /* file with the addresses that other hosts use (below); "" or
                                NULL: those of the interface */
    const char *congestion; /* e.g. "bbr"; "": the kernel's default; "auto": that, and bbr
                                once losses limit it (tcp_pace.c) */
    bool unpaced;           /* leave the rate to the congestion control alone */
    double deadline_s;      /* time to connect all streams; the end of a probe may be so late */
    double probe_s;         /* time limit of the first estimate of the rate; 0: none */
};

/* Connects every two ranks of the host. Collective: it succeeds on all ranks or fails on all, with
 * the same line in why. Adds the notes tcp_congestion and tcp_interface. Only open,
 * close and a note of losses use `host`. The caller closes the link with ops->close. */
int tcp_open(struct link **out, const struct wl_host *host, const struct tcp_options *options,
             char *why, size_t why_size);

/* Bytes/s to each rank, from the probes when the link was opened; 0: not probed, or another
 * transport. */
void tcp_rates(const struct link *link, double *rate_Bps);

/* Payload of a full packet, and whether the congestion control is BBR, as this rank sees it. 0 and
 * false: not known, or another transport. */
double tcp_segment(const struct link *link, bool *bbr);

/* tcp_flow() fills one direction between two ranks for a while, with some of the streams between
 * them, and measures it. Both ranks call it; `peer` is the other. TCP_ALL: every rank sends to all
 * others at once, and the result is that of all together. False: broken, see link->why. */
#define TCP_ALL (-1)
struct tcp_flow {
    int peer, first, streams; /* streams first to first + streams - 1 */
    const char *congestion;
    bool send, receive;
    double warm_rtts, warm_s, measure_s; /* both warm-ups pass before the measurement */
};
struct tcp_flowed {
    double rate_Bps;     /* payload that the peer has acknowledged */
    double received_Bps; /* payload that came meanwhile, from anybody */
    double loss;         /* share of segments that were sent again */
    double rtt_s;        /* under this load */
    double segment_B, mtu_B;
};
bool tcp_flow(struct link *link, const struct tcp_flow *f, struct tcp_flowed *out);

/* False, and why: the kernel does not have it, or does not permit it. "": its default. */
bool tcp_congestion_allowed(const char *name, char *why, size_t size);

/* ---- where a rank listens, and where the others find it ---- */

#define TCP_ADDRESSES_MAX 8

/* A rank's addresses, for the other ranks; sent as raw bytes. */
struct tcp_contact {
    char host[64];
    int node;
    bool closed;      /* other hosts cannot connect to it: it connects to them */
    uint16_t listens; /* its port; others may need `port` */
    uint16_t port, addresses;
    struct {
        uint16_t family;
        uint8_t bytes[16];
    } address[TCP_ADDRESSES_MAX];
};

/* Fills in host and addresses: those of `interface`; of all interfaces but loopback if it is ""; or
 * only loopback's. 0, or -1 and why. */
int tcp_contact_own(struct tcp_contact *out, const char *interface, bool loopback, char *why,
                    size_t size);

/* Replaces the addresses by those that the file gives for this host, for example behind a NAT. A line
 * of the file is "HOST ADDRESS[:PORT]" (the port is that of the host's first rank), "HOST own" (no
 * change) or "HOST none" (sets `closed`). 0, or -1 and why. */
int tcp_contact_given(struct tcp_contact *c, const char *path, int local_rank, char *why,
                      size_t size);
/* Makes it the contact of a rank on this host. */
void tcp_contact_here(struct tcp_contact *c);

/* Returns a socket that listens on `port` (0: any free port), and the port in *bound; or -1 and
 * why. */
int tcp_listen(bool loopback, int port, uint16_t *bound, char *why, size_t size);

/* The k-th address, for connect(). */
socklen_t tcp_contact_address(const struct tcp_contact *c, unsigned k,
                              struct sockaddr_storage *out);
void tcp_contact_text(const struct tcp_contact *c, unsigned k, char *text, size_t size);
