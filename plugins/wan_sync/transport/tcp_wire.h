/* SPDX-License-Identifier: Apache-2.0
 *
 * What a stream carries: a frame, then its payload, again and again, in both directions.
 * Everything is little-endian.
 */
#ifndef WAN_SYNC_TCP_WIRE_H
#define WAN_SYNC_TCP_WIRE_H

#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the tcp transport sends integers as they lie in memory, little-endian"
#endif

#define TCP_VERSION 3
#define TCP_FRAME_MAGIC 0x53475731u
#define TCP_FRAME_BYTES_MAX (1u << 30)
#define TCP_BYE_MAX 200 /* bytes of text */

enum tcp_frame_kind {
    TCP_BLOCK = 1, /* payload for a posted buffer */
    TCP_ACK,       /* no payload: `acked` alone, and that the sender is alive */
    TCP_BYE,       /* the sender closes; the payload says why, or is empty */
    TCP_PROBE,     /* payload that is thrown away */
    TCP_PROBED     /* no more probes come */
};

struct tcp_frame {
    uint32_t magic;
    uint16_t version;
    uint16_t kind;
    uint64_t id;
    uint64_t seq; /* of a block, per direction between two ranks; the same when it is sent again */
    uint64_t bytes; /* of payload */
    uint64_t acked; /* blocks that came whole over this connection, so far */
    /* Bytes of blocks that the sender of this frame takes from the other in all, those that are
     * sent again not counted: what it has posted so far, and what it has room for beside. */
    uint64_t granted;
    uint64_t proof; /* checksum of payload and frame, or 0 */
};
_Static_assert(sizeof(struct tcp_frame) == 56, "a frame has no holes");

#endif
