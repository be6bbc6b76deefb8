/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tcp transport is made of; its modules alone include this.
 *
 *   tcp_open      collective opening        tcp_link   the loop, deadlines, the operations
 *   tcp_addr      addresses, listening      tcp_hello  connections until they are proved
 *   tcp_out       a stream's sending side   tcp_in     its receiving side
 *   tcp_peer      blocks on their way       tcp_slot   buffers for those that come
 *   tcp_grant     how many may come
 *   tcp_meter     TCP_INFO to pace and back tcp_pace   the estimate
 *
 * One thread drives everything; abort() alone comes from another.
 */
#ifndef WAN_SYNC_TCP_PARTS_H
#define WAN_SYNC_TCP_PARTS_H

#include "wan_sync/transport/tcp.h"
#include "wan_sync/transport/tcp_addr.h"
#include "wan_sync/transport/tcp_pace.h"
#include "wan_sync/transport/tcp_secret.h"
#include "wan_sync/transport/tcp_wire.h"

#include <stdatomic.h>

#define TCP_KEPT_MAX_B                                                                             \
    (24u << 20)                     /* copies of blocks that the peer has not acknowledged, a rank \
                                     */
#define TCP_KEPT_BLOCK_B (1u << 20) /* a larger block stays in the caller's buffer until then */
/* What all peers together may send beyond what was posted for them: a part is each peer's own, the
 * rest is theirs who have something to send. None sends more than it was granted: a block without a
 * place would have to wait in its socket, and behind it the acknowledgements that its sender owes
 * us. Where a sum waits for those, and the place for the sum, nothing moves any more. */
#define TCP_AHEAD_OWN_B (8u << 20)
#define TCP_AHEAD_SHARED_B (32u << 20)
#define TCP_SEQ_WINDOW                                                                             \
    65536u /* blocks between the oldest that is not acknowledged and the next                      \
            */
#define TCP_UNSENT_LOW_B (128 << 10) /* what a stream that takes a block has not sent yet */
#define TCP_SCRATCH_B (64u << 10)
#define TCP_SLOTS 1024u

/* The first member of whatever epoll points to. */
enum tcp_watched { TCP_LISTENER, TCP_WAKE, TCP_HELLO, TCP_STREAM };

/* A block to be sent. `data` is the caller's until `told`, then a copy. */
struct tcp_out {
    struct tcp_out *next;
    uint64_t id, seq;
    const uint8_t *data;
    uint8_t *kept; /* the copy; NULL: none */
    size_t bytes;
    bool told; /* WAN_SENT was */
    bool paid; /* its bytes are counted among those that were sent */
};
struct tcp_outs {
    struct tcp_out *head, **tail;
};

/* Where a block goes: a posted buffer, or one of ours until it is posted (stash). */
struct tcp_slot {
    struct tcp_slot *next;
    uint64_t id;
    uint8_t *data;
    size_t bytes;
    struct tcp_stream *taken; /* that is filling it */
    bool stash, whole;
    void *wanted; /* posted meanwhile */
};

struct tcp_stream {
    enum tcp_watched watched; /* TCP_STREAM */
    struct tcp_peer *peer;
    int index, fd; /* fd -1: down */
    bool waits_room;
    /* sending */
    struct tcp_frame head;
    bool sending;
    const uint8_t *payload;
    size_t sent; /* of frame and payload */
    struct tcp_out *out;
    struct tcp_outs inflight; /* sent whole, not acknowledged */
    uint64_t acked;           /* blocks, by the peer, on this connection */
    bool ack_due;
    uint64_t got; /* blocks, from the peer, on this connection */
    /* receiving */
    struct tcp_frame frame, ahead;
    size_t have; /* of frame */
    bool body;
    uint8_t *sink; /* NULL: thrown away */
    size_t at;
    struct tcp_slot *slot;
    /* metering */
    uint64_t seen_acked, seen_resent, seen_held;
    uint64_t paced;
    /* coming back */
    bool was_up;
    struct tcp_hello *hello;
    double redial;
};

struct tcp_peer {
    struct tcp_link *link;
    int rank;
    struct tcp_contact contact;
    unsigned address; /* of contact, that is dialled */
    struct tcp_stream *streams;
    int up;
    unsigned turn; /* of its streams: which is given a block first */
    struct tcp_outs queue;
    uint64_t next_seq, oldest;
    size_t unacked; /* blocks posted for sending and not acknowledged */
    uint64_t low;   /* blocks below came */
    uint64_t came[TCP_SEQ_WINDOW / 64];
    struct tcp_slot *slots[TCP_SLOTS];
    size_t posted;
    uint64_t sent_B, may_send_B;          /* of blocks, once each; what it granted us */
    uint64_t came_B, posted_B, granted_B; /* the other way: granted_B as it was told last */
    bool asks;                            /* something was posted since a grant was thought of */
    double heard, spoke, down_since;
    unsigned refusals;
    bool local;           /* on this host: no link is between us, nothing is paced */
    bool probing, probed; /* we send to it to probe; it has sent us all of its probe */
    bool closed;
    bool narrow;      /* its way takes less than the uplink gives: */
    struct pace pace; /* this is in force while it is the only one that blocks are for */
    char last[96];    /* why the last connection failed */
    char bye[TCP_BYE_MAX + 1];
};

struct tcp_events {
    struct wan_event *v;
    size_t head, n, cap;
};

struct tcp_link {
    struct wan_link base; /* first: the strategies' handle */
    struct wl_host host;
    struct link_tcp_options options;
    struct tcp_secret *secret; /* in memory that no core holds */
    int epoll, listener, wake;
    enum tcp_watched listener_watched, wake_watched;
    atomic_bool aborted;
    bool failed, closing, paces;
    struct tcp_peer *peers; /* host.ranks of them, our own unused */
    struct tcp_events events;
    struct tcp_hello *hellos;
    unsigned hellos_n;
    size_t kept_B;
    bool probe_ends;
    struct pace pace;   /* of the uplink */
    struct pace *paced; /* the one in force */
    uint64_t acked_B, resent_B;
    double mss_B; /* of the latest stream that was looked at */
    double now, ticked, metered;
    bool rests;    /* when it was metered last, nothing was to be sent */
    bool begins;   /* and since then blocks were posted, which nobody was given yet */
    bool asked;    /* a peer asks */
    int waited;    /* peers, of other hosts, that have not acknowledged all */
    unsigned most; /* streams that their bursts allow at once, over all peers; 0: not known yet */
    struct wan_link_stats stats;
    struct link_tcp_events seen;
    uint8_t scratch[TCP_SCRATCH_B];
};

double tcp_now(void);
/* The link is broken: the first reason stays. Returns -1. */
int tcp_fail(struct tcp_link *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int tcp_tell(struct tcp_link *l, enum wan_done done, int peer, uint64_t id);
int tcp_watch(struct tcp_link *l, int op, int fd, uint32_t events, void *what);
/* One turn of the loop, at most timeout_s long; 0, or -1 when the link is broken. */
int tcp_turn(struct tcp_link *l, double timeout_s);

/* tcp_peer.c */
void tcp_outs_add(struct tcp_outs *o, struct tcp_out *b); /* at its end */
int tcp_peer_init(struct tcp_peer *p, struct tcp_link *l, int rank);
void tcp_peer_free(struct tcp_peer *p);
int tcp_peer_send(struct tcp_peer *p, uint64_t id, const void *data, size_t bytes);
struct tcp_out *tcp_peer_take(struct tcp_peer *p); /* the next block for a free stream, or NULL */
void tcp_peer_pump(struct tcp_peer *p);            /* gives free streams what there is */
void tcp_peers_begin(struct tcp_link *l);          /* the same of all, after a rest */
bool tcp_stream_may(const struct tcp_stream *s);   /* take a block: not too many others have */
void tcp_peer_acked(struct tcp_stream *s, uint64_t acked);
void tcp_peer_begin_wait(struct tcp_peer *p);  /* before something is posted */
bool tcp_peer_waits(const struct tcp_peer *p); /* something depends on it */
void tcp_stream_up(struct tcp_stream *s, int fd);
void tcp_stream_lost(struct tcp_stream *s, const char *reason);

/* tcp_grant.c */
void tcp_grant_init(struct tcp_peer *p);
uint64_t tcp_grant_now(const struct tcp_peer *p); /* bytes that it may have sent in all */
void tcp_grants_tell(struct tcp_link *l);         /* to those who need to know */
void tcp_grant_heard(struct tcp_peer *p, uint64_t may_send_B);

/* tcp_slot.c */
int tcp_peer_post(struct tcp_peer *p, uint64_t id, void *data, size_t bytes);
bool tcp_peer_came(const struct tcp_peer *p, uint64_t seq);
void tcp_peer_mark(struct tcp_peer *p, uint64_t seq);
struct tcp_slot *tcp_slot_find(struct tcp_peer *p, uint64_t id);
struct tcp_slot *tcp_slot_stash(struct tcp_peer *p, uint64_t id,
                                size_t bytes); /* NULL: no memory */
void tcp_slot_filled(struct tcp_peer *p, struct tcp_slot *slot);
void tcp_slot_release(struct tcp_stream *s); /* of a stream that is lost */
void tcp_slots_free(struct tcp_peer *p);

/* tcp_out.c, tcp_in.c */
bool tcp_out_frame(struct tcp_stream *s); /* one, or its rest; false: there is none, or no room */
void tcp_out_push(struct tcp_stream *s);  /* all that there is room for */
void tcp_out_say(struct tcp_peer *p);     /* a frame, that tells what is to be told */
void tcp_out_bye(struct tcp_peer *p, const char *text);
void tcp_in_pull(struct tcp_stream *s);

/* tcp_hello.c */
void tcp_hello_accept(struct tcp_link *l);
void tcp_hello_step(struct tcp_hello *h);
void tcp_hello_tick(struct tcp_link *l); /* dials what is down and due, drops what is late */
void tcp_hello_drop(struct tcp_hello *h, const char *why);

/* tcp_meter.c */
bool tcp_meter_tick(struct tcp_link *l);   /* something is on its way */
void tcp_meter_choose(struct tcp_link *l); /* whose estimate is in force, and room for how many */
void tcp_meter_begin(struct tcp_link *l, unsigned streams); /* so many begin to send at once */
void tcp_meter_fresh(struct tcp_stream *s);
void tcp_meter_gone(struct tcp_stream *s);

#endif
