/* SPDX-License-Identifier: Apache-2.0
 *
 * The examples of FIPS 180-4.
 */
#include "base/files.h"
#include "unit.h"

#include <string.h>

#include <sodium.h>

static const struct {
    const char *text, *hex;
} known[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};

TEST(known_answers)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char hex[65];
        sha256_hex(known[i].text, strlen(known[i].text), hex);
        assert_string_equal(hex, known[i].hex);
    }
}

TEST(in_pieces_as_at_once)
{
    char data[1000], whole[65], pieces[65];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7);
    sha256_hex(data, sizeof data, whole);
    for (size_t piece = 1; piece < 130; piece += 21) {
        struct sha256 *s = sha256_begin();
        for (size_t at = 0; at < sizeof data; at += piece)
            sha256_add(s, data + at, at + piece < sizeof data ? piece : sizeof data - at);
        sha256_end(s, pieces);
        assert_string_equal(pieces, whole);
    }
}

/* Blocks and rest by the CPU's instructions, where it has them, and by the library alone. */
TEST(every_length_as_the_library)
{
    unsigned char data[400], hash[crypto_hash_sha256_BYTES];
    char ours[65], library[65];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * i + 11);
    for (size_t n = 0; n <= sizeof data; n++) {
        crypto_hash_sha256(hash, data, n);
        sodium_bin2hex(library, sizeof library, hash, sizeof hash);
        sha256_hex(data, n, ours);
        assert_string_equal(ours, library);
    }
}
