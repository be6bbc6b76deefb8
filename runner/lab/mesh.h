/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulated links between the sites of a lab, and the packets on them:
 *
 *   a site's uplink → the pair's own rate → shared lines → loss, delay → the other site's downlink
 *
 * Jitter, detours and the packets of others exist while `disturbed` is set.
 *
 * A packet waits at a stage, in order, until its time to leave. Only lab_mesh_put and lab_mesh_move
 * touch packets; nothing here reads a clock or a device.
 */
#pragma once

#include "common/rng.h"
#include "lab/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shaper {
    double ns_per_B; /* 0: no limit */
    double queue_B;
    double free_ns; /* when the last bit of all accepted packets has left */
};

/* The passage of one packet through several links in a row. Bits are forwarded as they arrive: a
 * second link of the same rate adds no transmission time. */
struct passage {
    double last_ns; /* when its last bit arrived at the current link */
    double long_ns; /* its duration from first to last bit, set by the slowest link so far */
};

void shaper_set(struct shaper *s, double rate_Bps, double queue_B);
/* False: the queue is full, and the packet is dropped. */
bool shaper_pass(struct shaper *s, unsigned bytes, struct passage *p);

#define PACKET_HEAD_B 10 /* struct virtio_net_hdr, which a TUN device puts before each packet */
#define PACKET_SMALL_B 160

struct packet {
    struct packet *next;
    struct passage when;
    uint32_t bytes; /* of the IP packet */
    bool small;
    bool others; /* traffic of others: it takes rate and room, and is delivered to nobody */
    unsigned char data[]; /* PACKET_HEAD_B and the packet */
};

struct fifo {
    struct packet *first, *last;
};

struct packets {
    char *memory;
    size_t memory_B;
    char *next_big, *next_small, *end_big, *end_small; /* unused so far */
    struct packet *big, *small;                        /* free ones */
    size_t big_B, small_B;                             /* size of a slot */
};

/* Reserves memory for packets of `bytes` in total and at most mtu_B each. False: see errno. */
bool packets_make(struct packets *p, size_t mtu_B, double bytes);
void packets_free(struct packets *p);

/* NULL: no slot is free. */
struct packet *packet_get(struct packets *p, bool small);
void packet_put(struct packets *p, struct packet *one);
/* Moves a small packet to a small slot if one is free, and frees its large slot. */
struct packet *packet_fit(struct packets *p, struct packet *one);
struct packet *fifo_take(struct fifo *f); /* the FIFO must not be empty */

struct disturb {
    const struct lab_way *way;
    double loss; /* of the way, or of a command */
    bool losing; /* the last packet was lost */
    struct rng losses, others;
    double from_ns, to_ns, since_ns; /* jitter at since_ns, and JITTER_STEP_NS later */
    double next_ns;                  /* the next packet of others */
};

void disturb_init(struct disturb *d, const struct lab_way *way, uint64_t seed, size_t index,
                  size_t ways);
/* True: this packet is lost. Bursts as Gilbert: one that follows a lost packet is lost with
 * probability 1 - 1/burst. */
bool disturb_loses(struct disturb *d);

struct lab_end { /* one per site */
    struct shaper up, down;
    struct fifo out; /* ready for the site at when.last_ns */
    bool cut;        /* the site is down: all its packets are dropped */
};

struct lab_path { /* one direction of a pair */
    struct shaper own;
    struct fifo to_lines, way; /* reach the shared lines, or the downlink, at when.last_ns */
    struct fifo detour;        /* as way, for packets that others overtake */
    double delay_ns;
    struct disturb disturb;
    bool cut, held; /* every packet is dropped; waits */
    const struct lab_way *spec;
};

struct lab_counts {
    uint64_t packets, bytes; /* handed to the lines */
    uint64_t queue_drops, losses, cut_drops, memory_drops;
    uint64_t detours, others; /* packets that others overtake; packets of others */
};

struct lab_mesh {
    const struct lab_spec *spec;
    struct lab_end *ends;
    struct lab_path *paths; /* [from * n + to] */
    struct shaper *lines;
    struct packets packets;
    struct lab_counts counts;
    bool disturbed;
};

/* The spec must outlive the mesh. GS_OK or GS_CANNOT, reported: no memory. */
int lab_mesh_make(struct lab_mesh *n, const struct lab_spec *spec);
void lab_mesh_free(struct lab_mesh *n);

/* A site sends a packet at now_ns. The mesh takes ownership. */
void lab_mesh_put(struct lab_mesh *n, struct packet *one, size_t from, size_t to, double now_ns);
/* Moves every packet that is due at now_ns to its next stage. */
void lab_mesh_move(struct lab_mesh *n, double now_ns);
/* The time of the next due packet, those for `held` sites excluded; INFINITY: none. */
double lab_mesh_next(const struct lab_mesh *n, const bool *held);
