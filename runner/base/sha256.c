/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include "base/err.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE ((size_t)256 << 10)

void sha256_hex(const void *data, size_t n, char hex[65])
{
    struct sha256 *s = sha256_begin();
    sha256_add(s, data, n);
    sha256_end(s, hex);
}

int sha256_file(const char *path, char hex[65])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_at(GS_FAILED, path, 0, "cannot be opened: %s", strerror(errno));
    struct sha256 *s = sha256_begin();
    char *buf = xmalloc(PIECE);
    ssize_t n;
    while ((n = read(fd, buf, PIECE)) > 0 || (n < 0 && errno == EINTR))
        sha256_add(s, buf, n > 0 ? (size_t)n : 0);
    int error = errno;
    sha256_end(s, hex);
    free(buf);
    close(fd);
    return n < 0 ? fail_at(GS_FAILED, path, 0, "cannot be read: %s", strerror(error)) : GS_OK;
}
