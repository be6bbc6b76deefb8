/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include "base/text.h"

#include <openssl/evp.h>
#include <sodium.h>
#include <stdlib.h>

struct sha256 {
    EVP_MD_CTX *context;
};

/* Of these calls only an allocation can fail, and a policy that forbids SHA-256 altogether. */
static void need(int good)
{
    if (!good)
        abort();
}

struct sha256 *sha256_begin(void)
{
    struct sha256 *s = xmalloc(sizeof *s);
    s->context = EVP_MD_CTX_new();
    need(s->context && EVP_DigestInit_ex(s->context, EVP_sha256(), NULL));
    return s;
}

void sha256_add(struct sha256 *s, const void *data, size_t n)
{
    need(EVP_DigestUpdate(s->context, data, n));
}

void sha256_end(struct sha256 *s, char hex[65])
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    need(EVP_DigestFinal_ex(s->context, hash, &n));
    sodium_bin2hex(hex, 65, hash, n);
    EVP_MD_CTX_free(s->context);
    free(s);
}
