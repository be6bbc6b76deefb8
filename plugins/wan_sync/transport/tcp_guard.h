/* SPDX-License-Identifier: Apache-2.0
 *
 * Protects one direction of a connection against attackers on the network.
 *
 * Proof: Poly1305 over the payload of each frame, and over its head, which contains the first proof.
 * Each of the two has a key of its own, which ChaCha20 derives from the connection's key and the number
 * of the frame. This number is not sent. So a frame that was altered, repeated, left out or swapped
 * has a wrong proof.
 *
 * Encryption: libsodium's secretstream (XChaCha20-Poly1305). The head is a message, and so is each
 * TCP_SEALED_B of the payload. It refuses the same changes.
 */
#pragma once

#include "wan_sync/transport/tcp.h"
#include "wan_sync/transport/tcp_keys.h"
#include "wan_sync/transport/tcp_wire.h"

#include <sodium.h>
#include <sys/types.h>
#include <sys/uio.h>

#define TCP_SEALED_B 16384 /* of payload, in one message */

struct tcp_guard {
    uint8_t key[TCP_KEY_B];
    uint64_t frames;
    crypto_onetimeauth_state payload; /* of the frame that is being received */
    crypto_secretstream_xchacha20poly1305_state stream;
    bool begun;      /* the header of the stream is sent, or received */
    uint8_t *sealed; /* messages on their way to or from the socket */
    size_t n, at;    /* bytes in it; bytes of it that are sent */
    size_t plain;    /* bytes of plain text in it */
};

/* Begins a connection. False: no memory. */
bool tcp_guard_begin(struct tcp_guard *g, enum tcp_protection how, const uint8_t key[TCP_KEY_B]);
void tcp_guard_end(struct tcp_guard *g);

/* Proof. Fills in the proofs of a frame to send. */
void tcp_guard_prove(struct tcp_guard *g, struct tcp_frame *frame, const void *payload);
/* For a received frame: its head; each piece of its payload; and then whether the proof is right. */
bool tcp_guard_head(struct tcp_guard *g, const struct tcp_frame *frame);
void tcp_guard_piece(struct tcp_guard *g, const void *data, size_t bytes);
bool tcp_guard_payload(struct tcp_guard *g, const struct tcp_frame *frame);

/* Encryption. Like sendmsg(): `head` is a whole head or nothing, and what was not sent comes again
 * in the next call. Returns only bytes of whole messages; errno is EAGAIN while there is none. */
ssize_t tcp_guard_send(struct tcp_guard *g, int fd, struct iovec head, struct iovec payload);
/* Like recv(), of one message with `bytes` bytes, TCP_SEALED_B or fewer. errno is EAGAIN while it
 * is not whole, and EBADMSG if it is not the message that was sent. */
ssize_t tcp_guard_recv(struct tcp_guard *g, int fd, void *to, size_t bytes);
