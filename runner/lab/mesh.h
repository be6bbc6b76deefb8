/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulated links between the sites of a lab, and the packets on them:
 *
 *   a site's uplink → the pair's own rate → shared lines → loss, delay → the other site's downlink
 *
 * Jitter, detours and the packets of others (disturb.h) exist while `disturbed` is set.
 *
 * A packet waits at a stage, in order, until its time to leave. Only lab_mesh_put and lab_mesh_move
 * touch packets; nothing here reads a clock or a device.
 */
#pragma once

#include "lab/disturb.h"
#include "lab/packets.h"
#include "lab/spec.h"

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
