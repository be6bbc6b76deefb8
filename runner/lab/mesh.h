/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines between the sites of a lab, with the packets that are on them:
 *
 *   a site's uplink → the pair's own rate → shared lines → loss, delay → the other site's downlink
 *
 * What leaves a stage later than now waits there, in order. Only lab_mesh_put and lab_mesh_move
 * touch packets; nothing here reads a clock or a device.
 */
#ifndef GS_LAB_MESH_H
#define GS_LAB_MESH_H

#include "common/rng.h"
#include "lab/packets.h"
#include "lab/spec.h"

struct lab_end { /* a site's */
    struct shaper up, down;
    struct fifo out; /* ready for the site at when.last_ns */
    bool cut;        /* nothing comes or goes: the site is down */
};

struct lab_path { /* of one direction of a pair */
    struct shaper own;
    struct fifo to_lines, way; /* at the shared lines, at the downlink, at when.last_ns */
    double delay_ns, loss;
    struct rng rng;
    const struct lab_way *spec;
};

struct lab_counts {
    uint64_t packets, bytes; /* handed to the lines */
    uint64_t queue_drops, losses, cut_drops, memory_drops;
};

struct lab_mesh {
    const struct lab_spec *spec;
    struct lab_end *ends;
    struct lab_path *paths; /* [from * n + to] */
    struct shaper *lines;
    struct packets packets;
    struct lab_counts counts;
};

/* The spec must outlive the mesh. GS_OK or GS_CANNOT, reported: no memory. */
int lab_mesh_make(struct lab_mesh *n, const struct lab_spec *spec);
void lab_mesh_free(struct lab_mesh *n);

/* A packet that a site sends, at now_ns; taken over. */
void lab_mesh_put(struct lab_mesh *n, struct packet *one, size_t from, size_t to, double now_ns);
/* Moves what is due at now_ns on to the next stage. */
void lab_mesh_move(struct lab_mesh *n, double now_ns);
/* When something is due next, at a site that is not `held` or between; INFINITY: nothing. */
double lab_mesh_next(const struct lab_mesh *n, const bool *held);

#endif
