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

/* ==== inside the transport ====
 *
 * Its sources use those before them in this list:
 *
 *   tcp_pace.c    the estimate of the uplink's rate, the readings that it is made from, and losses
 *   tcp_stream.c  blocks: a peer's queue, its streams in both directions, buffers, grants
 *   tcp_join.c    addresses, and connections until both ends have shown the cookie
 *   tcp_link.c    opens a link, drives it, and measures what it carries
 *
 * One thread drives everything; only abort() may be called from another.
 */

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

/* ---- the format of a stream ---- */

/* Frames, each followed by its payload, in both directions. Little-endian. */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the tcp transport sends integers as they lie in memory, little-endian"
#endif

#define TCP_VERSION 5
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

#define TCP_FRAME_MAGIC 0x53475731u
#define TCP_FRAME_BYTES_MAX (1u << 30)
#define TCP_BYE_MAX 200 /* bytes of text */

enum tcp_frame_kind {
    TCP_BLOCK = 1, /* payload for a posted buffer */
    TCP_ACK,       /* no payload: carries `acked` and `granted` */
    TCP_BYE,       /* the sender closes; the payload is the reason, or empty */
    TCP_PROBE,     /* payload to discard */
    TCP_PROBED     /* no more probes come */
};

struct tcp_frame {
    uint32_t magic;
    uint16_t version;
    uint16_t kind;
    uint64_t id;
    uint64_t seq;   /* number of a block, per direction between two ranks; sent again: the same */
    uint64_t bytes; /* of payload */
    uint64_t acked; /* complete blocks received on this connection so far */
    /* Total bytes of blocks that the sender of this frame can accept from the other end: posted so
     * far, and room beside. Blocks that are sent again count once. */
    uint64_t granted;
};
_Static_assert(sizeof(struct tcp_frame) == 48, "a frame has no holes");

/* ---- the estimate of a rate (tcp_pace.c) ---- */

/* Estimates the rate of an uplink from the acknowledged bytes over time, and chooses the sending
 * rate. A window is a short measurement. The phases:
 *
 * - start: send at most START_GAIN times the rate of the best window. Ends after three windows that
 *   do not grow by a quarter, or after one if there is a standing queue
 * - measure: send slightly faster than that for a quarter of a second; the rate that arrives is the
 *   estimate
 * - drain: send slightly slower until the queue of the phases before is empty
 * - cruise: send at WAN_HEADROOM times the estimate
 * - probe: from time to time, send faster for a round trip and a window, or until a queue stands;
 *   if more arrives, raise the estimate and make the next probe larger
 *
 * The estimate is the third best of the saturated windows of two seconds; a window in which all
 * that was sent arrived counts as the estimate itself. So a single late reader or burst of
 * acknowledgements has no effect, and a drop to a tenth is detected within two or three seconds.
 *
 * Its benefit (four sites, 100 Mbit/s, packets of 9000 bytes; `make bench-wan PART=ablate`): a ring
 * reaches 98% of the bound with it. Without it CUBIC reaches 92% at 10 ms and 88% at 30 ms, BBR 96%
 * and 94%. Where losses are the limit (0.1%, packets of 1500 bytes) it has none: 72 and 73% with
 * CUBIC, 95 and 97% with BBR.
 *
 * Pure arithmetic: no clock, no socket. Rates are payload bytes per second, times are seconds. The
 * phases are those of BBR (Cardwell et al. 2016), over all streams and with windows in place of its
 * filters of single packets. */
#define PACE_WINDOWS 40

enum tcp_pace_phase { PACE_START, PACE_MEASURE, PACE_DRAIN, PACE_CRUISE, PACE_PROBE };

struct tcp_pace {
    enum tcp_pace_phase phase;
    double rate;    /* the estimate; 0: none yet */
    double rtt_min; /* the shortest round trip seen; 0: none */
    double burst_B;
    double gain;  /* of a probe */
    double usual; /* round trip before the probe: acknowledgements also wait in queues of others */
    double since, until;
    double next_probe; /* seconds of sending until the next probe */
    int flat, queued;  /* windows in a row without growth, with a standing queue */
    double best;       /* rate of the best window of phase start */
    double peak;       /* the highest estimate since the last start */
    int low;           /* windows in a row far below the peak without a queue */
    double recent[PACE_WINDOWS];
    unsigned windows;
    struct {               /* the window that is being measured */
        double from, last; /* last: the latest reading; 0: no window is open */
        uint64_t acked, resent;
        double rtt_sum;
        unsigned readings, busy, held;
    } w;
};

/* One reading, of all streams together. */
struct tcp_pace_seen {
    double now;
    uint64_t acked, resent; /* bytes since the link opened; never fall */
    double rtt;             /* the shortest smoothed round trip of the streams that send; 0: none */
    double rtt_min;         /* the shortest the kernel ever saw; 0: none */
    double burst_B;         /* the streams may send this at once: such a queue does not count */
    bool busy;              /* more was to be sent than the kernel accepted */
    bool held;              /* a receiver's window kept a stream back */
};

void tcp_pace_init(struct tcp_pace *p);
/* Takes a reading, some milliseconds after the last one, and returns the rate to send at;
 * 0: no limit. */
double tcp_pace_feed(struct tcp_pace *p, const struct tcp_pace_seen *s);
/* Call it after a pause: the queue is empty. If phase start was running, its result so far becomes
 * the estimate. */
void tcp_pace_rest(struct tcp_pace *p);
/* `sharers` shared the measured rate; from now on this one may use all of it. */
void tcp_pace_alone(struct tcp_pace *p, int sharers);
/* True: there is an estimate. */
bool tcp_pace_known(const struct tcp_pace *p);
/* The rate to send at now. */
double tcp_pace_rate(const struct tcp_pace *p);

/* ---- the state of a link ---- */

#define TCP_KEPT_MAX_B (18u << 20)  /* copies of blocks not acknowledged, of a rank */
#define TCP_KEPT_BLOCK_B (1u << 20) /* a larger block stays in the caller's buffer until then */
/* Bytes that all peers together may send beyond the posted buffers. A part is reserved for each
 * peer; peers with something to send share the rest. A peer never sends more than it was granted: a
 * block without a buffer would wait in its socket, and the acknowledgements behind it too. If a sum
 * waits for these acknowledgements, and the buffer for the sum, that is a deadlock. */
#define TCP_AHEAD_OWN_B (8u << 20)
#define TCP_AHEAD_SHARED_B (14u << 20)
/* Blocks between the oldest that is not acknowledged and the next. */
#define TCP_SEQ_WINDOW 65536u
#define TCP_UNSENT_LOW_B (128 << 10) /* a stream with more unsent bytes takes no block */
#define TCP_SCRATCH_B (64u << 10)
#define TCP_SLOTS 1024u

/* The first member of every object that epoll points to. */
enum tcp_watched { TCP_LISTENER, TCP_WAKE, TCP_GUEST, TCP_DIAL, TCP_STREAM };

/* A connection that came to the listener. */
struct tcp_guest {
    enum tcp_watched watched; /* TCP_GUEST */
    int fd;                   /* -1: the place is free */
    double came, spoke;       /* spoke: when its first byte was read; 0: not yet */
    size_t have;              /* bytes of call */
    struct tcp_call call;
};

/* A connection that this rank makes for one of its streams, whose part it is. */
struct tcp_dial {
    enum tcp_watched watched; /* TCP_DIAL */
    int fd;                   /* -1: none */
    bool connected;
    double deadline, again; /* again: not before this time */
    size_t have;            /* bytes of answer */
    struct tcp_answer answer;
};

/* A block to send. `data` belongs to the caller until `told`; then it is a copy. */
struct tcp_out {
    struct tcp_out *next;
    uint64_t id, seq;
    const uint8_t *data;
    uint8_t *kept; /* the copy; NULL: none */
    size_t bytes;
    bool told; /* LINK_SENT was reported */
    bool paid; /* its bytes are counted in sent_B */
};
struct tcp_outs {
    struct tcp_out *head, **tail;
};

/* The buffer of a block to receive: posted, or our own until the caller posts one (stash). */
struct tcp_slot {
    struct tcp_slot *next;
    uint64_t id;
    uint8_t *data;
    size_t bytes;
    struct tcp_stream *taken; /* the stream that fills it */
    bool stash, whole;
    void *wanted; /* the buffer that was posted meanwhile */
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
    struct tcp_outs inflight; /* sent completely, not acknowledged */
    uint64_t acked;           /* blocks that the peer acknowledged on this connection */
    bool ack_due;
    uint64_t got; /* blocks received on this connection */
    /* receiving */
    struct tcp_frame frame, ahead;
    size_t have; /* of frame */
    bool body;
    uint8_t *sink; /* NULL: discard */
    size_t at;
    struct tcp_slot *slot;
    /* metering */
    uint64_t seen_acked, seen_resent, seen_held;
    uint64_t paced;
    /* reopening */
    bool was_up;
    struct tcp_dial dial;
};

struct tcp_peer {
    struct tcp_link *link;
    int rank;
    struct tcp_contact contact;               /* our own too */
    unsigned address;                         /* index of the address of contact to connect to */
    struct tcp_stream *streams, *streams_end; /* its part of those of the link */
    int up;
    unsigned turn; /* index of the stream that gets the next block first */
    struct tcp_outs queue;
    uint64_t next_seq, oldest;
    size_t unacked; /* blocks posted for sending and not acknowledged */
    uint64_t low;   /* all blocks below have arrived */
    uint64_t came[TCP_SEQ_WINDOW / 64];
    struct tcp_slot *slots[TCP_SLOTS];
    size_t posted;
    uint64_t sent_B, may_send_B;          /* bytes of blocks, each counted once; granted to us */
    uint64_t came_B, posted_B, granted_B; /* the other direction; granted_B: last grant sent */
    bool asks; /* a buffer was posted since the last grant was computed */
    unsigned refusals;
    bool local;           /* on this host: not paced */
    bool probing, probed; /* we send it a probe; its probe to us is complete */
    bool closed;
    bool narrow;          /* the path to it is slower than our uplink; */
    struct tcp_pace pace; /* then this is used while all blocks are for it */
    char last[96];        /* why the last connection failed */
    char bye[TCP_BYE_MAX + 1];
};

struct tcp_events {
    struct link_event *v;
    size_t head, n, cap;
};

/* Losses while the rate was known and nothing was probed. */
struct tcp_losses {
    uint64_t acked_then, resent_then; /* at the last look */
    double acked_B, resent_B;
    bool limit; /* they limit the streams; noted once */
};

struct tcp_link {
    struct link base; /* first: the strategies' handle */
    struct wl_host host;
    struct tcp_options options;
    struct tcp_cookie cookie;
    bool ready; /* it may be called: the cookie and the peers are there */
    int epoll, listener, wake;
    int port; /* that was given; 0: any */
    struct tcp_link *next_door;
    enum tcp_watched listener_watched, wake_watched;
    atomic_bool aborted;
    bool failed, closing, paces;
    struct tcp_peer *peers;                   /* [host.ranks]; our own has a contact alone */
    struct tcp_stream *streams, *streams_end; /* of all peers, in their order */
    struct tcp_events events;
    struct tcp_guest *guests;
    size_t guests_n;
    size_t kept_B;
    bool probe_ends;
    int first, use;         /* streams of a flow (tcp_link.c); use 0: all */
    struct tcp_pace pace;   /* of the uplink */
    struct tcp_pace *paced; /* the one in use */
    uint64_t acked_B, resent_B;
    struct tcp_losses losses;
    bool automatic; /* congestion = auto */
    double mss_B;   /* of the last stream that was read */
    double now, ticked, metered;
    bool rests;    /* at the last metering nothing was to be sent */
    bool begins;   /* since then blocks were posted and no stream has taken one */
    bool asked;    /* a peer asks */
    int waited;    /* peers on other hosts that have not acknowledged everything */
    unsigned most; /* maximum streams that may burst at once, over all peers; 0: not known yet */
    struct link_stats stats;
    uint8_t scratch[TCP_SCRATCH_B];
};

/* ---- tcp_pace.c ---- */

bool tcp_meter_tick(struct tcp_link *l);   /* true: something is on its way */
void tcp_meter_choose(struct tcp_link *l); /* the estimate in use, and the number of streams */
void tcp_meter_begin(struct tcp_link *l, unsigned streams); /* `streams` start sending at once */
void tcp_meter_fresh(struct tcp_stream *s);
void tcp_meter_gone(struct tcp_stream *s);
void tcp_congestion_name(const struct tcp_link *l, char *name, socklen_t n);

/* ---- tcp_stream.c ---- */

/* Marks the link broken; keeps the first reason. Returns -1. */
int tcp_fail(struct tcp_link *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int tcp_watch(struct tcp_link *l, int op, int fd, uint32_t events, void *what);
void tcp_peer_init(struct tcp_peer *p, struct tcp_link *l, int rank);
void tcp_peer_free(struct tcp_peer *p);
int tcp_peer_send(struct tcp_peer *p, uint64_t id, const void *data, size_t bytes);
int tcp_peer_post(struct tcp_peer *p, uint64_t id, void *data, size_t bytes);
void tcp_peers_begin(struct tcp_link *l); /* after a pause: gives waiting blocks to streams */
void tcp_grants_tell(struct tcp_link *l); /* sends grants to peers that need them */
void tcp_out_push(struct tcp_stream *s);  /* sends frames while there is room */
void tcp_out_bye(struct tcp_peer *p, const char *text);
void tcp_in_pull(struct tcp_stream *s);
void tcp_stream_up(struct tcp_stream *s, int fd);

/* ---- tcp_join.c ---- */

/* 0, or -1 and errno. */
int tcp_cookie_draw(struct tcp_cookie *c);
void tcp_call_make(const struct tcp_cookie *c, unsigned version, int from, int to, int stream,
                   struct tcp_call *out);

/* Opens l->listener and the table of guests. *bound: the port; port 0: any free port, of its own. Links
 * of one process on the same port share its socket: a guest goes to the link whose cookie it shows. 0,
 * or -1 and why. */
int tcp_join_open(struct tcp_link *l, bool loopback, int port, uint16_t *bound, char *why,
                  size_t size);
void tcp_join_close(struct tcp_link *l);
bool tcp_join_calls(const struct tcp_link *l, int peer); /* this rank connects to the peer */
void tcp_join_accept(struct tcp_link *l);
void tcp_join_guest(struct tcp_link *l, struct tcp_guest *g);
void tcp_join_dial(struct tcp_link *l, struct tcp_dial *d);
void tcp_join_tick(struct tcp_link *l); /* connects streams that are down, drops late connections */
bool tcp_join_busy(const struct tcp_link *l);
