/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/tcp_guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define EXTRA_B crypto_secretstream_xchacha20poly1305_ABYTES
#define HEADER_B crypto_secretstream_xchacha20poly1305_HEADERBYTES
#define SEALED_MOST_B (HEADER_B + sizeof(struct tcp_frame) + EXTRA_B + TCP_SEALED_B + EXTRA_B)

bool tcp_guard_begin(struct tcp_guard *g, enum tcp_protection how, const uint8_t key[TCP_KEY_B])
{
    tcp_guard_end(g);
    memcpy(g->key, key, TCP_KEY_B);
    if (how == TCP_ENCRYPTION)
        g->sealed = malloc(SEALED_MOST_B);
    return g->sealed || how != TCP_ENCRYPTION;
}

void tcp_guard_end(struct tcp_guard *g)
{
    free(g->sealed);
    sodium_memzero(g, sizeof *g);
}

/* ---- proof ---- */

struct one_time {
    uint8_t head[crypto_onetimeauth_KEYBYTES], payload[crypto_onetimeauth_KEYBYTES];
};

/* Of the next frame. */
static void one_time(struct tcp_guard *g, struct one_time *keys)
{
    uint8_t nonce[crypto_stream_chacha20_ietf_NONCEBYTES] = {0};
    memcpy(nonce, &g->frames, sizeof g->frames);
    g->frames++;
    crypto_stream_chacha20_ietf((uint8_t *)keys, sizeof *keys, nonce, g->key);
}

void tcp_guard_prove(struct tcp_guard *g, struct tcp_frame *frame, const void *payload)
{
    struct one_time keys;
    one_time(g, &keys);
    crypto_onetimeauth(frame->payload_proof, payload, frame->bytes, keys.payload);
    crypto_onetimeauth(frame->proof, (const uint8_t *)frame, offsetof(struct tcp_frame, proof),
                       keys.head);
}

bool tcp_guard_head(struct tcp_guard *g, const struct tcp_frame *frame)
{
    struct one_time keys;
    one_time(g, &keys);
    crypto_onetimeauth_init(&g->payload, keys.payload);
    return crypto_onetimeauth_verify(frame->proof, (const uint8_t *)frame,
                                     offsetof(struct tcp_frame, proof), keys.head) == 0;
}

void tcp_guard_piece(struct tcp_guard *g, const void *data, size_t bytes)
{
    crypto_onetimeauth_update(&g->payload, data, bytes);
}

bool tcp_guard_payload(struct tcp_guard *g, const struct tcp_frame *frame)
{
    uint8_t want[crypto_onetimeauth_BYTES];
    crypto_onetimeauth_final(&g->payload, want);
    return crypto_verify_16(want, frame->payload_proof) == 0;
}

/* ---- encryption ---- */

static void seal(struct tcp_guard *g, const void *data, size_t bytes)
{
    if (bytes == 0)
        return;
    if (!g->begun) {
        crypto_secretstream_xchacha20poly1305_init_push(&g->stream, g->sealed, g->key);
        g->n = HEADER_B;
    }
    g->begun = true;
    crypto_secretstream_xchacha20poly1305_push(&g->stream, g->sealed + g->n, NULL, data, bytes,
                                               NULL, 0, 0);
    g->n += bytes + EXTRA_B;
    g->plain += bytes;
}

ssize_t tcp_guard_send(struct tcp_guard *g, int fd, struct iovec head, struct iovec payload)
{
    size_t bytes = payload.iov_len < TCP_SEALED_B ? payload.iov_len : TCP_SEALED_B;
    if (g->n == 0) {
        seal(g, head.iov_base, head.iov_len);
        seal(g, payload.iov_base, bytes);
    }
    int more = payload.iov_len > bytes ? MSG_MORE : 0;
    ssize_t n = send(fd, g->sealed + g->at, g->n - g->at, MSG_DONTWAIT | MSG_NOSIGNAL | more);
    if (n < 0)
        return n;
    g->at += (size_t)n;
    if (g->at < g->n) {
        errno = EAGAIN;
        return -1;
    }
    n = (ssize_t)g->plain;
    g->n = g->at = g->plain = 0;
    return n;
}

static bool unseal(struct tcp_guard *g, void *to)
{
    size_t at = g->begun ? 0 : HEADER_B;
    if (!g->begun && crypto_secretstream_xchacha20poly1305_init_pull(&g->stream, g->sealed, g->key))
        return false;
    g->begun = true;
    return crypto_secretstream_xchacha20poly1305_pull(&g->stream, to, NULL, NULL, g->sealed + at,
                                                      g->n - at, NULL, 0) == 0;
}

ssize_t tcp_guard_recv(struct tcp_guard *g, int fd, void *to, size_t bytes)
{
    size_t want = (g->begun ? 0 : HEADER_B) + bytes + EXTRA_B;
    ssize_t n = recv(fd, g->sealed + g->n, want - g->n, MSG_DONTWAIT);
    if (n <= 0)
        return n;
    g->n += (size_t)n;
    errno = EAGAIN;
    if (g->n < want)
        return -1;
    bool good = unseal(g, to);
    g->n = 0;
    errno = good ? 0 : EBADMSG;
    return good ? (ssize_t)bytes : -1;
}
