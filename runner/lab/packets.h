/* SPDX-License-Identifier: Apache-2.0
 *
 * Packets under way and the queues that they stand in. The memory is one reservation of two sizes,
 * touched as it is needed: most packets are full ones and bare acknowledgements.
 */
#ifndef GS_LAB_PACKETS_H
#define GS_LAB_PACKETS_H

#include "lab/shaper.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKET_HEAD_B 10 /* struct virtio_net_hdr: what a TUN device puts in front */
#define PACKET_SMALL_B 160

struct packet {
    struct packet *next;
    struct passage when;
    uint32_t bytes; /* of the IP packet */
    bool small;
    unsigned char data[]; /* PACKET_HEAD_B and the packet */
};

struct fifo {
    struct packet *first, *last;
};

struct packets {
    char *memory;
    size_t memory_B;
    char *next_big, *next_small, *end_big, *end_small; /* not yet touched */
    struct packet *big, *small;                        /* free ones */
    size_t big_B, small_B;                             /* of a slot */
};

/* Room for packets of `bytes` together, of at most mtu_B each. False and errno. */
bool packets_make(struct packets *p, size_t mtu_B, double bytes);
void packets_free(struct packets *p);

/* NULL: none is left. */
struct packet *packet_get(struct packets *p, bool small);
void packet_put(struct packets *p, struct packet *one);
/* A small packet takes a small slot, where one is left; one of them is freed. */
struct packet *packet_fit(struct packets *p, struct packet *one);

void fifo_add(struct fifo *f, struct packet *one);
struct packet *fifo_take(struct fifo *f); /* not of an empty one */

#endif
