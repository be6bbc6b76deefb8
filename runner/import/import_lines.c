/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_lines.h"

#include "base/err.h"
#include "base/locate.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)256 << 10)

/* ---- lines ---- */

int lines_open(struct lines *in, const char *path)
{
    struct stat st;
    *in = (struct lines){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (in->fd < 0 || fstat(in->fd, &st))
        return locate_failed(GS_USAGE, path, LOCATE_FILE);
    if (!S_ISREG(st.st_mode) || st.st_size == 0) {
        close(in->fd);
        in->fd = -1;
        return fail_at(GS_FAILED, path, 0, "refused: %s",
                       S_ISREG(st.st_mode) ? "it is empty"
                                           : "no regular file, and imports name what they read");
    }
    in->buf = xmalloc(LINES_MAX + CHUNK + 1);
    in->start = xmalloc(LINES_MAX + 1);
    crypto_hash_sha256_init(&in->hash);
    return GS_OK;
}

static int fill(struct lines *in)
{
    memmove(in->buf, in->buf + in->at, in->end - in->at);
    in->end -= in->at;
    in->at = 0;
    ssize_t n;
    do
        n = read(in->fd, in->buf + in->end, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        fail_at(GS_FAILED, in->path, (int)in->number + 1, "cannot be read: %s", strerror(errno));
        return -1;
    }
    in->eof = n == 0;
    crypto_hash_sha256_update(&in->hash, (const unsigned char *)in->buf + in->end,
                              (unsigned long long)n);
    in->end += (size_t)n;
    return 0;
}

static int binary(const struct lines *in)
{
    fail_at(GS_FAILED, in->path, (int)in->number, "refused: binary (a NUL byte is no text)");
    return -1;
}

static int too_long(const struct lines *in)
{
    fail_at(GS_FAILED, in->path, (int)in->number,
            "refused: a line of more than %zu MiB; no program whose output is read writes one",
            LINES_MOST >> 20);
    return -1;
}

/* Past the rest of the line whose start was given out last. */
static int skip_rest(struct lines *in)
{
    for (size_t skipped = LINES_MAX;;) {
        size_t n = in->end - in->at;
        char *nl = memchr(in->buf + in->at, '\n', n);
        skipped += nl ? (size_t)(nl - in->buf) - in->at : n;
        if (memchr(in->buf + in->at, '\0', nl ? (size_t)(nl - in->buf) - in->at : n))
            return binary(in);
        if (skipped > LINES_MOST)
            return too_long(in);
        in->at = nl ? (size_t)(nl - in->buf) + 1 : in->end;
        if (nl || in->eof)
            return 0;
        if (fill(in))
            return -1;
    }
}

/* 1: a line, or the start of one, lies at `at`; 0: the end. */
static int find_line(struct lines *in, size_t *n)
{
    for (size_t seen = 0;;) {
        char *nl = memchr(in->buf + in->at + seen, '\n', in->end - in->at - seen);
        in->cut = in->torn = false;
        seen = in->end - in->at;
        if (nl) {
            *n = (size_t)(nl - in->buf) - in->at;
            return 1;
        }
        in->cut = seen > LINES_MAX;
        in->torn = in->eof && seen > 0;
        *n = in->cut ? LINES_MAX : seen;
        if (in->cut || in->eof)
            return in->cut || in->torn;
        if (fill(in))
            return -1;
    }
}

int lines_next(struct lines *in, char **line, size_t *n)
{
    if (in->cut && skip_rest(in))
        return -1;
    int got = find_line(in, n);
    if (got <= 0)
        return got;
    in->number++;
    *line = in->buf + in->at;
    if (memchr(*line, '\0', *n))
        return binary(in);
    in->at += *n + !(in->torn || in->cut);
    if (in->cut) { /* the byte behind its start is still to be looked at */
        memmove(in->start, *line, *n);
        *line = in->start;
    }
    (*line)[*n] = '\0';
    while (*n && (*line)[*n - 1] == '\r')
        (*line)[--*n] = '\0';
    return 1;
}

int lines_piece(struct lines *in, const char **s, size_t *n)
{
    if (in->at == in->end && !in->eof && fill(in))
        return -1;
    *s = in->buf + in->at;
    *n = in->end - in->at;
    in->at = in->end;
    if (!memchr(*s, '\0', *n))
        return *n > 0;
    fail_at(GS_FAILED, in->path, 0, "refused: binary (a NUL byte is no text)");
    return -1;
}

int lines_rewind(struct lines *in)
{
    if (lseek(in->fd, 0, SEEK_SET) < 0)
        return fail_at(GS_FAILED, in->path, 0, "cannot be read again: %s", strerror(errno));
    in->at = in->end = in->number = 0;
    in->eof = in->torn = in->cut = false;
    crypto_hash_sha256_init(&in->hash);
    return GS_OK;
}

void lines_sha256(struct lines *in, char hex[65])
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&in->hash, hash);
    sodium_bin2hex(hex, 65, hash, sizeof hash);
}

void lines_close(struct lines *in)
{
    if (in->fd >= 0)
        close(in->fd);
    free(in->buf);
    free(in->start);
    in->buf = in->start = NULL;
}
