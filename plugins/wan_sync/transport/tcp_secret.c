/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/tcp_secret.h"

#include "wan_sync/transport/tcp_wire.h"

#include <sodium.h>
#include <string.h>

static const char magic[8] = "gsyncWAN";

/* Proof of up to two messages in a row; the label keeps one step's proof from serving another. */
static void prove(const struct tcp_secret *s, const char *label, const void *a, size_t a_bytes,
                  const void *b, size_t b_bytes, uint8_t proof[32])
{
    crypto_generichash_state h;
    crypto_generichash_init(&h, s->key, sizeof s->key, 32);
    crypto_generichash_update(&h, (const uint8_t *)label, strlen(label) + 1);
    crypto_generichash_update(&h, s->job, sizeof s->job);
    crypto_generichash_update(&h, a, a_bytes);
    if (b_bytes > 0)
        crypto_generichash_update(&h, b, b_bytes);
    crypto_generichash_final(&h, proof, 32);
}

static bool proved(const uint8_t want[32], const uint8_t got[32])
{
    return sodium_memcmp(want, got, 32) == 0;
}

void tcp_call_make(const struct tcp_secret *s, unsigned version, int from, int to, int stream,
                   struct tcp_call *out)
{
    *out = (struct tcp_call){.version = (uint16_t)version,
                             .from = (uint16_t)from,
                             .to = (uint16_t)to,
                             .stream = (uint16_t)stream};
    memcpy(out->magic, magic, sizeof magic);
    memcpy(out->job, s->job, sizeof s->job);
    randombytes_buf(out->nonce, sizeof out->nonce);
    prove(s, "call", out, offsetof(struct tcp_call, proof), NULL, 0, out->proof);
}

bool tcp_call_proved(const struct tcp_secret *s, const struct tcp_call *call)
{
    uint8_t want[32];
    prove(s, "call", call, offsetof(struct tcp_call, proof), NULL, 0, want);
    return memcmp(call->magic, magic, sizeof magic) == 0 && proved(want, call->proof);
}

void tcp_answer_make(const struct tcp_secret *s, const struct tcp_call *call,
                     struct tcp_answer *out)
{
    *out = (struct tcp_answer){.version = TCP_VERSION};
    memcpy(out->magic, magic, sizeof magic);
    randombytes_buf(out->nonce, sizeof out->nonce);
    prove(s, "answer", call, sizeof *call, out, offsetof(struct tcp_answer, proof), out->proof);
}

bool tcp_answer_proved(const struct tcp_secret *s, const struct tcp_call *call,
                       const struct tcp_answer *answer)
{
    uint8_t want[32];
    prove(s, "answer", call, sizeof *call, answer, offsetof(struct tcp_answer, proof), want);
    return memcmp(answer->magic, magic, sizeof magic) == 0 && proved(want, answer->proof);
}

void tcp_confirm_make(const struct tcp_secret *s, const struct tcp_call *call,
                      const struct tcp_answer *answer, struct tcp_confirm *out)
{
    prove(s, "confirm", call, sizeof *call, answer, sizeof *answer, out->proof);
}

bool tcp_confirm_proved(const struct tcp_secret *s, const struct tcp_call *call,
                        const struct tcp_answer *answer, const struct tcp_confirm *confirm)
{
    struct tcp_confirm want;
    tcp_confirm_make(s, call, answer, &want);
    return proved(want.proof, confirm->proof);
}
