/* SPDX-License-Identifier: Apache-2.0
 *
 * What a strategy needs of a transport: blocks moved between peers without waiting. A block is
 * named by (peer, id); ids are chosen by the strategy, unique per direction between two peers
 * until both ends have seen their events. Blocks may arrive in any order. A posted buffer belongs
 * to the link until its event. Every function that can fail returns -1 and leaves one line in
 * why[].
 *
 * Opening is collective over the team, a function a transport: link_mpi_open(), link_tcp_open().
 */
#ifndef LINK_H
#define LINK_H

#include <stddef.h>
#include <stdint.h>

enum wan_done { WAN_SENT, WAN_RECEIVED };

struct wan_event {
    enum wan_done done;
    int peer;
    uint64_t id;
};

struct wan_link_stats {
    uint64_t sent_B, received_B; /* payload and the link's own headers, since open */
    double rate_Bps;             /* the estimate of this rank's uplink; 0: none */
    /* Since open: streams that broke and were opened again; connections without the secret. */
    unsigned reopened, strangers;
};

struct wan_link;

struct wan_link_ops {
    const char *name;
    int (*send)(struct wan_link *, int peer, uint64_t id, const void *data, size_t bytes);
    int (*recv)(struct wan_link *, int peer, uint64_t id, void *data, size_t bytes);
    /* The next finished block: 1; 0 when timeout_s passed without one; -1. Drives all progress. */
    int (*next)(struct wan_link *, struct wan_event *, double timeout_s);
    /* NULL: nothing to do. Outside of what is timed: drives the link until every peer has all that
     * was sent to it, so that a rank may stop calling next() for long; 0, or -1. A link may tell
     * WAN_SENT as soon as it no longer needs the buffer. */
    int (*settle)(struct wan_link *, double timeout_s);
    void (*stats)(const struct wan_link *, struct wan_link_stats *);
    /* From another thread: next() returns -1 soon. */
    void (*abort)(struct wan_link *);
    void (*close)(struct wan_link *);
};

struct wan_link {
    const struct wan_link_ops *ops;
    char why[256];
};

#endif
