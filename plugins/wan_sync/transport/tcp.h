/* SPDX-License-Identifier: Apache-2.0
 *
 * The tcp transport: K connections ("streams") between every two ranks. A block travels whole on
 * one stream, and a stream that has room takes the next block of its peer. What the streams of a
 * rank send together is paced to a little under the rate of its uplink, which it estimates itself.
 *
 * After a rest no more streams begin than have their first bursts, two segments each, in about half
 * of what the way holds (rate x RTT), over all peers, at least one to each: 24 streams of 9000
 * bytes overflow the queue of 100 Mbit/s and 30 ms before any pace can divide them.
 *
 * Nothing is read from a connection before both ends have proved that they know the job's secret.
 * A stream that breaks is opened again and what it had not delivered is sent again, once.
 *
 * Memory: at most 24 MiB of blocks that are kept until the peer has them. Blocks may arrive before
 * their buffer is posted, from all peers together 40 MiB more than was posted for them and a block
 * of each; a peer that is further ahead waits until it is told that there is room.
 */
#ifndef WAN_SYNC_TCP_H
#define WAN_SYNC_TCP_H

#include "wan_sync/transport/link.h"
#include "workload.h"

#include <stdbool.h>

#define LINK_TCP_STREAMS_MAX 64

struct link_tcp_options {
    int streams;             /* between two ranks, 1 to LINK_TCP_STREAMS_MAX */
    const char *interface;   /* its addresses alone; "": every address but loopback's */
    int port;                /* listens on port + local rank; 0: one that is free */
    const char *congestion;  /* e.g. "bbr"; "": the kernel's own */
    const char *secret_file; /* at least 16 bytes, of mode 0600; "": rank 0 makes one */
    bool checksum;           /* of every block, keyed (SipHash-2-4); TCP's own is 16 bits */
    double deadline_s;       /* a peer may be silent for so long while something waits for it */
    double probe_s;          /* at most so long for the first estimate of the rate; 0: none */
};

/* Connects every two ranks of the host. Collective: it succeeds on all ranks or on none, and then
 * every rank is given the same line in why. Notes tcp_congestion, tcp_interface. `host` is used by
 * open and close only. The caller closes it with ops->close. */
int link_tcp_open(struct wan_link **out, const struct wl_host *host,
                  const struct link_tcp_options *options, char *why, size_t why_size);

/* What was seen beside the blocks. */
struct link_tcp_events {
    unsigned strangers; /* connections refused: no proof, or a wrong one */
    unsigned reopened;  /* streams that broke and were opened again */
    unsigned resent;    /* blocks sent again because of that */
};
void link_tcp_events(const struct wan_link *link, struct link_tcp_events *out);

#endif
