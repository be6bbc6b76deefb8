/* SPDX-License-Identifier: Apache-2.0
 *
 * The format of a stream: frames, each followed by its payload, in both directions. Little-endian.
 */
#pragma once

#include <stdint.h>

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
    TCP_ACK,       /* no payload: carries `acked`, and shows that the sender is alive */
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
