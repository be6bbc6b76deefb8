/* SPDX-License-Identifier: Apache-2.0
 *
 * The tcp transport: K connections ("streams") between every two ranks. A block uses one stream,
 * and a stream with room takes the next block for its peer. All streams of a rank together are paced to
 * slightly less than the rate of its uplink, which a probe finds after the link was opened.
 *
 * After a pause, the first bursts of the streams (two segments each) may fill about half of rate x
 * RTT, over all peers; at least one stream to each peer starts. More would overflow queues before
 * pacing has an effect: 24 streams with segments of 9000 bytes do so at 100 Mbit/s and 30 ms.
 *
 * Its benefit (four sites, 100 Mbit/s, packets of 9000 bytes): a ring
 * reaches 98% of the bound with it. Without it CUBIC reaches 92% at 10 ms and 88% at 30 ms, BBR 96%
 * and 94%. Where losses are the limit (0.1%, packets of 1500 bytes) it has none.
 *
 * A rank listens only until all streams are connected, and reads nothing from a connection before that has
 * shown the cookie of the link (tcp_join.c). The cookie keeps strangers out. It does not hide or protect
 * what is sent: between sites, use WireGuard. If a stream breaks, or its peer's kernel does not answer for
 * `deadline_s`, the link has failed.
 */
#pragma once

#include "common/clock.h"
#include "common/wan_model.h"
#include "wan_sync/transport/link.h"
#include "workload.h"

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct tcp_options {
    int streams;            /* between two ranks, 1 or more */
    const char *interface;  /* use only its addresses; "": all but loopback */
    int port;               /* listen on port + local rank; 0: any free port */
    const char *congestion; /* e.g. "bbr"; "": the kernel's default */
    bool unpaced;           /* leave the rate to the congestion control alone */
    double deadline_s;      /* time to connect all streams; the longest silence of a host */
};

/* Connects every two ranks of the host. Collective: it succeeds on all ranks or fails on all, with
 * the same line in why. Adds the notes tcp_congestion and tcp_interface. Tells the host of another one
 * that does not answer. The caller closes the link with ops->close. */
int tcp_open(struct link **out, const struct wl_host *host, const struct tcp_options *options,
             char *why, size_t why_size);

/* Finds the rate to rank `to` by filling the way to it for at most limit_s, while rank `from` does the
 * same to this rank; -1: none. Nothing else may be under way. Afterwards the link paces what it sends by the
 * rates that it knows. -1: the link has failed. */
int tcp_probe(struct link *link, int to, int from, double limit_s);

/* The rate of the way to a rank, as probed: payload, bytes/s; 0: not known. */
double tcp_rate(const struct link *link, int rank);

/* Fills one direction between two ranks, with all streams between them, and measures it. Both ranks call
 * it; `peer` is the other. TCP_ALL: every rank sends to all others at once, and the result is that of all
 * together. -1: the link has failed. */
#define TCP_ALL (-1)
struct tcp_flow {
    int peer;
    bool send, receive;
    double warm_rtts, warm_s, measure_s; /* both warm-ups pass before the measurement */
};
struct tcp_flowed {
    double rate_Bps;     /* payload that the peer has acknowledged */
    double received_Bps; /* payload that came meanwhile, from anybody */
    double loss;         /* share of segments that were sent again */
    double rtt_s;        /* the shortest that the kernel has seen */
    double segment_B, mtu_B;
};
int tcp_flow(struct link *link, const struct tcp_flow *f, struct tcp_flowed *out);

/* ==== inside the transport ====
 *
 *   tcp_join.c   addresses, and connections until both ends have shown the cookie
 *   tcp_link.c   opens a link, sends and receives blocks, and paces the streams
 *   tcp_pace.c   what the ways to the peers carry: probes of the rates
 *
 * One thread drives everything; only abort() may be called from another.
 */

#define TCP_ADDRESSES_MAX 8

/* Where the other ranks find a rank; sent as raw bytes. */
struct tcp_contact {
    char host[64];
    uint16_t port, addresses;
    struct {
        uint16_t family;
        uint8_t bytes[16];
    } address[TCP_ADDRESSES_MAX];
};

/* ---- the format of a stream ---- */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the tcp transport sends integers as they lie in memory, little-endian"
#endif

#define TCP_VERSION 6
#define TCP_COOKIE_HALF_B 32

struct tcp_cookie {
    uint8_t call[TCP_COOKIE_HALF_B], answer[TCP_COOKIE_HALF_B];
};

/* The first bytes of a connection, each way. */
struct tcp_call {
    uint8_t cookie[TCP_COOKIE_HALF_B];
    uint16_t version, from, to, stream;
};
struct tcp_answer {
    uint8_t cookie[TCP_COOKIE_HALF_B];
    uint16_t version, unused[3];
};

/* Then frames, each followed by its payload. */
#define TCP_FRAME_MAGIC 0x53475731u
#define TCP_BLOCK_MAX_B (1u << 30)
#define TCP_BYE_MAX_B 200

enum tcp_frame_kind {
    TCP_BLOCK = 1,
    TCP_BYE,   /* the sender closes; the payload is the reason, or empty */
    TCP_PROBE, /* payload to discard */
    TCP_PROBED /* no more probes come over this stream */
};

struct tcp_frame {
    uint32_t magic, kind, id, bytes; /* bytes: of payload */
};
_Static_assert(sizeof(struct tcp_frame) == 16, "as the model counts it: FRAME_B");

/* ---- the state of a link ---- */

#define TCP_UNSENT_LOW_B (128 << 10) /* a stream with more unsent bytes takes no block */
#define TCP_SCRATCH_B (64u << 10)

/* A block to send; it is the caller's memory. */
struct tcp_out {
    struct tcp_out *next;
    uint32_t id;
    const void *data;
    size_t bytes;
};

struct tcp_stream {
    struct tcp_peer *peer;
    int fd; /* -1: down */
    bool waits_room;
    /* sending */
    struct tcp_frame head;
    const void *payload;
    size_t sent; /* of frame and payload */
    bool sending;
    /* receiving */
    struct tcp_frame frame;
    size_t have; /* of frame and payload */
    uint8_t *block;
    /* probing */
    bool probing, probed; /* it sends probes; those that came over it have ended */
    /* pacing */
    bool active;
    uint64_t paced;
};

struct tcp_peer {
    struct tcp_link *link;
    int rank;
    struct tcp_contact contact; /* our own too */
    struct tcp_stream *streams; /* NULL: this rank itself */
    bool local;                 /* on this host: not paced */
    int up;                     /* streams */
    unsigned turn;              /* index of the stream that gets the next block first */
    struct tcp_out *queue, **queue_end;
    double rate, rtt_s; /* of the way to it; 0: not known */
    bool full;          /* this rate filled the way */
    char last[128];     /* why it could not be connected */
    char bye[TCP_BYE_MAX_B + 1];
};

struct tcp_link {
    struct link base; /* first: the handle of the caller */
    struct wl_host host;
    struct tcp_options options;
    struct tcp_cookie cookie;
    int listener, epoll, wake;
    atomic_bool aborted;
    bool failed, paces;
    struct tcp_peer *peers;     /* [host.ranks] */
    struct tcp_stream *streams; /* of all peers, in their order */
    size_t streams_n;
    struct tcp_events {
        struct link_event *v;
        size_t head, n, cap;
    } events;
    unsigned strangers; /* connections without the cookie */
    uint64_t received_B;
    /* pacing */
    double rate;      /* of the uplink, the best of those of the peers; 0: not known */
    bool full;        /* a probe has filled a way */
    double probe_Bps; /* of a probe: send at this rate; 0: at that of the uplink */
    bool probe_ends;
    double mss_B;
    int use;     /* streams to each peer */
    bool rests;  /* nothing was to be sent when the streams were paced last */
    bool begins; /* since then blocks were posted, and no stream has taken one */
    double now, paced_at, looked_at;
    uint8_t scratch[TCP_SCRATCH_B];
};

/* ---- tcp_join.c ---- */

/* Marks the link broken; keeps the first reason. Returns -1. */
int tcp_fail(struct tcp_link *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Opens l->listener and writes where it is found. 0, or -1 and why. */
int tcp_join_listen(struct tcp_link *l, struct tcp_contact *own, char *why, size_t size);
/* Draws a cookie. 0, or -1 and errno. */
int tcp_cookie_draw(struct tcp_cookie *c);
/* Connects all streams; the higher rank calls the lower one. Closes the listener. 0, or -1. */
int tcp_join(struct tcp_link *l);

/* ---- tcp_link.c ---- */

/* One turn of the loop, at most timeout_s long. 0, or -1 when the link is broken. */
int tcp_turn(struct tcp_link *l, double timeout_s);
/* Sends frames to the peer on every stream that has room. */
void tcp_pump(struct tcp_peer *p);
