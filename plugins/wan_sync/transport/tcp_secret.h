/* SPDX-License-Identifier: Apache-2.0
 *
 * The proofs of a new connection. Both ends prove that they know the key of their pair (tcp_keys.h)
 * without sending it: keyed BLAKE2b (libsodium's crypto_generichash) over a nonce of each end, the
 * version, the job and the two ranks. The caller's first message already carries a proof, so a stranger
 * gets no answer.
 *
 *   caller -> called   struct tcp_call
 *   called -> caller   struct tcp_answer
 *   caller -> called   struct tcp_confirm, then frames
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tcp_secret {
    uint8_t key[32], job[16];
};

struct tcp_call {
    char magic[8];
    uint16_t version, from, to, stream;
    uint8_t job[16], nonce[32], proof[32];
};
struct tcp_answer {
    char magic[8];
    uint16_t version, unused[3];
    uint8_t nonce[32], proof[32];
};
struct tcp_confirm {
    uint8_t proof[32];
};

/* Makes a call of TCP_VERSION; tests use other versions. */
void tcp_call_make(const struct tcp_secret *s, unsigned version, int from, int to, int stream,
                   struct tcp_call *out);
bool tcp_call_proved(const struct tcp_secret *s, const struct tcp_call *call);

void tcp_answer_make(const struct tcp_secret *s, const struct tcp_call *call,
                     struct tcp_answer *out);
bool tcp_answer_proved(const struct tcp_secret *s, const struct tcp_call *call,
                       const struct tcp_answer *answer);

void tcp_confirm_make(const struct tcp_secret *s, const struct tcp_call *call,
                      const struct tcp_answer *answer, struct tcp_confirm *out);
bool tcp_confirm_proved(const struct tcp_secret *s, const struct tcp_call *call,
                        const struct tcp_answer *answer, const struct tcp_confirm *confirm);
