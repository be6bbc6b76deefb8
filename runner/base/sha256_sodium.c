/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include "base/text.h"

#include <sodium.h>
#include <stdlib.h>

struct sha256 {
    crypto_hash_sha256_state state;
};

struct sha256 *sha256_begin(void)
{
    struct sha256 *s = xmalloc(sizeof *s);
    crypto_hash_sha256_init(&s->state);
    return s;
}

void sha256_add(struct sha256 *s, const void *data, size_t n)
{
    crypto_hash_sha256_update(&s->state, data, (unsigned long long)n);
}

void sha256_end(struct sha256 *s, char hex[65])
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&s->state, hash);
    sodium_bin2hex(hex, 65, hash, sizeof hash);
    free(s);
}
