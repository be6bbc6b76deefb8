/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"

#include <errno.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE ((size_t)256 << 10)

struct sha256 {
    EVP_MD_CTX *context;
};

/* These calls fail only without memory, or where a policy of the system forbids SHA-256. */
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
