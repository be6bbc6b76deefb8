/* SPDX-License-Identifier: Apache-2.0
 *
 * Packets in flight and their queues. One memory reservation holds slots of two sizes, because most
 * packets are either full or bare acknowledgements. Memory is touched on first use.
 */
#pragma once

#include "lab/shaper.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

void fifo_add(struct fifo *f, struct packet *one);
struct packet *fifo_take(struct fifo *f); /* the FIFO must not be empty */
