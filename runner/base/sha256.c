/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE ((size_t)256 << 10)

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
    crypto_hash_sha256_update(&s->state, data, n);
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
