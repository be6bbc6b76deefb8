/* SPDX-License-Identifier: Apache-2.0
 *
 * How two ranks get common keys that are never sent. Each rank makes a key pair for this job (X25519,
 * libsodium's crypto_kx) and tells the others the public half over MPI. Every two ranks derive a
 * key from their halves and, if there is a secret_file, from its content. crypto_kdf derives from
 * it one key for each purpose: to prove a connection (tcp_secret.h), and to derive the keys of a
 * connection, one for each direction and kind of protection (tcp_guard.h).
 *
 * An attacker who only reads MPI's traffic learns no key. One who changes it while the job starts can
 * take a rank's place, unless there is a secret_file.
 */
#pragma once

#include "wan_sync/transport/tcp_secret.h"

#define TCP_KEY_B 32

struct tcp_public {
    uint8_t job[16]; /* a random name of the job; rank 0's is used */
    uint8_t key[TCP_KEY_B];
};
struct tcp_own_keys {
    struct tcp_public public;
    uint8_t private[TCP_KEY_B], file[TCP_KEY_B];
    bool has_file;
};
/* Of this rank and a peer. */
struct tcp_pair_keys {
    struct tcp_secret hello;
    uint8_t connections[TCP_KEY_B];
};
/* Of one connection. */
struct tcp_ways {
    uint8_t out[TCP_KEY_B], in[TCP_KEY_B];
};

/* secret_file: at least 16 bytes, readable only by its owner; "": none. 0, or -1 and why. */
int tcp_keys_make(struct tcp_own_keys *own, const char *secret_file, char *why, size_t size);
/* -1: the peer's public key is not one. */
int tcp_keys_pair(const struct tcp_own_keys *own, int me, const struct tcp_public *of, int peer,
                  struct tcp_pair_keys *out);
/* purpose: keys of different purposes are unrelated. */
void tcp_keys_connection(const struct tcp_pair_keys *pair, const struct tcp_call *call,
                         const struct tcp_answer *answer, bool calls, unsigned purpose,
                         struct tcp_ways *out);
