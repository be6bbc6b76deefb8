/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface of a transport: it moves blocks between peers without blocking. (peer, id) names a
 * block. The strategy chooses ids that are unique per direction between two peers until both ends
 * have seen their events. Blocks may arrive in any order. A posted buffer belongs to the link until
 * its event. Every function that can fail returns -1 and writes one line to why[].
 *
 * The words of this folder:
 *   peer    another rank
 *   link    all that joins a rank to its peers over one transport
 *   stream  a TCP connection between two ranks; a link over TCP has several to each peer
 *   dial    a connection that this rank makes and that is no stream yet
 *   guest   a connection that came to this rank and has not shown the cookie
 *   flow    data that fills the way to a peer on purpose, to measure it
 *   pool    the links of a process (pool.h)
 *
 * The transports are tcp (tcp.h) and MPI point to point (pool.c).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes the line, and is -1. */
#define LINK_WHY(why, size, ...) (snprintf(why, size, __VA_ARGS__), -1)

enum link_done { LINK_SENT, LINK_RECEIVED };

struct link_event {
    enum link_done done;
    int peer;
    uint64_t id;
};

struct link_stats {
    uint64_t sent_B, received_B; /* payload and the link's own headers, since open */
    double rate_Bps;             /* estimated rate of this rank's uplink; 0: none */
    /* Since open: streams that broke and were reopened; connections without the cookie. */
    unsigned reopened, strangers;
};

struct link;

struct link_ops {
    const char *name;
    int (*send)(struct link *, int peer, uint64_t id, const void *data, size_t bytes);
    int (*recv)(struct link *, int peer, uint64_t id, void *data, size_t bytes);
    /* Returns 1 with the next finished block, 0 if there is none within timeout_s, or -1. All
     * progress happens in this call. */
    int (*next)(struct link *, struct link_event *, double timeout_s);
    /* Call it outside of timed code before a rank stops calling next() for long. Drives the link
     * until every peer has all that was sent to it: LINK_SENT only says that the link no longer
     * needs the buffer. 0 or -1. NULL: the transport needs no such call. */
    int (*settle)(struct link *, double timeout_s);
    void (*stats)(const struct link *, struct link_stats *);
    /* May be called from another thread: makes next() return -1 soon. */
    void (*abort)(struct link *);
    void (*close)(struct link *);
};

struct link {
    const struct link_ops *ops;
    char why[256];
};
