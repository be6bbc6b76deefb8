/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"

#include <errno.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE ((size_t)256 << 10)

struct sha256 {
    crypto_hash_sha256_state state;
};

/* ---- whole blocks by the instructions of an x86 CPU: libsodium has portable code only ---- */

#define BLOCK ((size_t)64)

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/* The instructions keep the words a, b, e, f in one register and c, d, g, h in the other. */
__attribute__((target("sha,sse4.1,ssse3"))) static void
add_blocks(uint32_t state[8], const unsigned char *data, size_t blocks)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0), w[4];
    for (; blocks; blocks--, data += BLOCK) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        for (int i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)data + i), big_endian);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) { /* four rounds each */
            const __m128i last = w[(i + 3) & 3], k = ((const __m128i_u *)constants)[i];
            const __m128i wk = _mm_add_epi32(w[i & 3], k);
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
            w[i & 3] =
                _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]),
                                                   _mm_alignr_epi8(last, w[(i + 2) & 3], 4)),
                                     last);
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(high, low, 8));
}

static bool has_instructions(void)
{
    unsigned a, b = 0, c = 0, d;
    bool sse = __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSE4_1 && c & bit_SSSE3;
    return sse && __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_SHA;
}
#else
static void add_blocks(uint32_t state[8], const unsigned char *data, size_t blocks)
{
    (void)state, (void)data, (void)blocks;
}

static bool has_instructions(void)
{
    return false;
}
#endif

/* libsodium's state counts bits, and holds the bytes of the last, incomplete block. */
static size_t take_blocks(crypto_hash_sha256_state *s, const unsigned char *data, size_t n)
{
    static _Atomic int fast = -1; /* unknown */
    if (fast < 0)
        fast = has_instructions();
    size_t blocks = fast && s->count % (8 * BLOCK) == 0 ? n / BLOCK : 0;
    if (blocks)
        add_blocks(s->state, data, blocks);
    s->count += 8 * BLOCK * blocks;
    return BLOCK * blocks;
}

/* ---- any bytes ---- */

struct sha256 *sha256_begin(void)
{
    struct sha256 *s = xmalloc(sizeof *s);
    crypto_hash_sha256_init(&s->state);
    return s;
}

void sha256_add(struct sha256 *s, const void *data, size_t n)
{
    const unsigned char *bytes = data;
    size_t begun = s->state.count / 8 % BLOCK, fill = begun ? BLOCK - begun : 0;
    fill = fill < n ? fill : n;
    crypto_hash_sha256_update(&s->state, bytes, fill);
    size_t done = fill + take_blocks(&s->state, bytes + fill, n - fill);
    crypto_hash_sha256_update(&s->state, bytes + done, n - done);
}

void sha256_end(struct sha256 *s, char hex[65])
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&s->state, hash);
    sodium_bin2hex(hex, 65, hash, sizeof hash);
    free(s);
}

void sha256_hex(const void *data, size_t n, char hex[65])
{
    struct sha256 *s = sha256_begin();
    sha256_add(s, data, n);
    sha256_end(s, hex);
}

int sha256_file(const char *path, char hex[65])
{
    int fd = files_open(path, FILES_ANY);
    if (fd < 0)
        return fail_at(GS_FAILED, path, 0, "cannot be opened: %s", files_why(errno));
    struct sha256 *s = sha256_begin();
    AUTO_FREE char *buf = xmalloc(PIECE);
    ssize_t n;
    while ((n = read(fd, buf, PIECE)) > 0 || (n < 0 && errno == EINTR))
        sha256_add(s, buf, n > 0 ? (size_t)n : 0);
    int error = errno;
    sha256_end(s, hex);
    close(fd);
    return n < 0 ? fail_at(GS_FAILED, path, 0, "cannot be read: %s", strerror(error)) : GS_OK;
}
