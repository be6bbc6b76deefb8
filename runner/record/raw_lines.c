/* SPDX-License-Identifier: Apache-2.0 */
#include "record/raw_lines.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK ((size_t)256 << 10)

int raw_lines_open(struct raw_lines *r, const char *path)
{
    int fd = files_open(path, FILES_OWN);
    if (fd < 0)
        return fail_at(GS_FAILED, path, 0, "cannot be opened: %s", files_why(errno));
    *r = (struct raw_lines){.path = xstrdup(path), .fd = fd};
    return GS_OK;
}

/* Makes room after `end` and reads once. -1: reported. */
static int fill(struct raw_lines *r)
{
    if (r->at) {
        memmove(r->buf, r->buf + r->at, r->end - r->at);
        r->buf_offset += r->at;
        r->end -= r->at;
        r->at = 0;
    }
    if (r->end + CHUNK > r->cap) {
        r->cap = r->cap ? 2 * r->cap : 2 * CHUNK;
        r->buf = xrealloc(r->buf, r->cap);
    }
    ssize_t n;
    do
        n = read(r->fd, r->buf + r->end, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        fail_at(GS_FAILED, r->path, 0, "cannot be read: %s", strerror(errno));
        return -1;
    }
    r->eof = n == 0;
    r->end += (size_t)n;
    return 0;
}

int raw_lines_next(struct raw_lines *r, char **line, size_t *n)
{
    size_t seen = 0;
    for (;;) {
        size_t have = r->end - r->at;
        char *nl = have > seen ? memchr(r->buf + r->at + seen, '\n', have - seen) : NULL;
        if (nl) {
            *line = r->buf + r->at;
            *n = (size_t)(nl - *line);
            *nl = '\0';
            r->at += *n + 1;
            r->number++;
            return 1;
        }
        if (r->eof) {
            r->torn = have > 0;
            return 0;
        }
        seen = have;
        if (have > RAW_LINE_MAX) {
            fail_at(GS_FAILED, r->path, (int)r->number + 1,
                    "a line is longer than %d MiB: this is not a recording", RAW_LINE_MAX >> 20);
            return -1;
        }
        if (fill(r))
            return -1;
    }
}

struct raw_place raw_lines_tell(const struct raw_lines *r)
{
    return (struct raw_place){.offset = r->buf_offset + r->at, .number = r->number};
}

int raw_lines_seek(struct raw_lines *r, struct raw_place to)
{
    r->number = to.number;
    r->torn = false;
    if (lseek(r->fd, (off_t)to.offset, SEEK_SET) < 0)
        return fail_at(GS_FAILED, r->path, 0, "cannot be read: %s", strerror(errno));
    r->at = r->end = 0;
    r->buf_offset = to.offset;
    r->eof = false;
    return GS_OK;
}

void raw_lines_close(struct raw_lines *r)
{
    close(r->fd);
    free(r->buf);
    free(r->path);
}
