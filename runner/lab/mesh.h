/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulated links between the sites of a lab, and the packets on them:
 *
 *   a site's uplink → the pair's own rate → loss, delay → the other site's downlink
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

struct packet {
    struct packet *next;
    struct passage when;
    uint32_t bytes;       /* of the IP packet */
    unsigned char data[]; /* PACKET_HEAD_B and the packet */
};

struct packet *packet_new(size_t most_B);

struct fifo {
    struct packet *first, *last;
};

struct packet *fifo_take(struct fifo *f); /* the FIFO must not be empty */

struct lab_end { /* one per site */
    struct shaper up, down;
    struct fifo out; /* ready for the site at when.last_ns */
    bool cut;        /* the site is down: all its packets are dropped */
};

struct lab_path { /* one direction of a pair */
    struct shaper own;
    struct fifo way; /* reach the downlink at when.last_ns */
    double delay_ns;
    double loss;
    struct rng losses;
    bool cut; /* every packet is dropped */
};

struct lab_counts {
    uint64_t packets, bytes; /* handed to the mesh */
    uint64_t queue_drops, losses, cut_drops;
};

struct lab_mesh {
    const struct lab_spec *spec;
    struct lab_end *ends;
    struct lab_path *paths; /* [from * n + to] */
    struct lab_counts counts;
};

/* The spec must outlive the mesh. */
void lab_mesh_make(struct lab_mesh *n, const struct lab_spec *spec);
void lab_mesh_free(struct lab_mesh *n);
/* Sets rates and losses to those of the spec; nothing is cut. */
void lab_mesh_reset(struct lab_mesh *n);

/* A site sends a packet at now_ns. The mesh takes ownership. */
void lab_mesh_put(struct lab_mesh *n, struct packet *one, size_t from, size_t to, double now_ns);
/* Moves every packet that is due at now_ns to its next stage. */
void lab_mesh_move(struct lab_mesh *n, double now_ns);
/* The time of the next due packet; INFINITY: none. */
double lab_mesh_next(const struct lab_mesh *n);
