/* SPDX-License-Identifier: Apache-2.0 */
#include "record/record_end.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "record/raw.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

json_t *record_fail_line(const struct record_death *d)
{
    return json_pack("{ss so si so so si so so}", "type", "fail", "cell", json_text(d->cell),
                     "copy", d->copy, "kind", json_text(d->kind), "why", json_text(d->why), "rank",
                     d->rank, "host", json_text(d->host), "phase", json_text(d->phase));
}

json_t *record_end_line(const char *status)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return json_pack("{ss sf ss}", "type", "end", "at", (double)t.tv_sec + (double)t.tv_nsec * 1e-9,
                     "status", status);
}

/* The end of the last complete line; -1 and errno if the file cannot be read. */
static off_t whole_lines(int fd)
{
    char buf[4096];
    off_t end = lseek(fd, 0, SEEK_END);
    while (end > 0) {
        size_t n = end < (off_t)sizeof buf ? (size_t)end : sizeof buf;
        ssize_t got = pread(fd, buf, n, end - (off_t)n);
        if (got != (ssize_t)n)
            return -1;
        const char *newline = memrchr(buf, '\n', n);
        if (newline)
            return end - (off_t)n + (newline - buf) + 1;
        end -= (off_t)n;
    }
    return end;
}

/* Reads the recording up to its end: more lines follow only those that were written. */
static int find_end(struct record *r, bool *ended)
{
    AUTO(raw_close_of) struct raw *raw = NULL;
    struct raw_line line;
    int got = 0, code = raw_open(&raw, r->path);
    if (code)
        return code;
    while ((got = raw_next(raw, 1u << RAW_END, &line)) == 1)
        *ended = true;
    r->chain = raw_tell(raw).chain;
    return got < 0 ? GS_FAILED : GS_OK;
}

int record_reopen(struct record *r, const char *path, bool *ended)
{
    *ended = false;
    *r = (struct record){.fd = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (r->fd < 0)
        return record_cannot("open", path);
    r->path = xstrdup(path);
    off_t end = whole_lines(r->fd);
    int code = end < 0 || ftruncate(r->fd, end)
                   ? record_cannot("remove the incomplete last line", path)
                   : find_end(r, ended);
    if (code)
        record_close(r);
    return code;
}

static int add_lines(struct record *r, const char *status, const struct record_death *death)
{
    int code = death ? record_line(r, record_fail_line(death)) : GS_OK;
    if (!code)
        code = record_line(r, record_end_line(status));
    return code ? code : record_sync(r);
}

int record_end_write(const char *path, const char *status, const struct record_death *death)
{
    struct record r;
    bool ended;
    if (access(path, F_OK) || record_is_being_written(path))
        return GS_OK;
    int code = record_reopen(&r, path, &ended);
    if (code)
        return code;
    if (lseek(r.fd, 0, SEEK_END) == 0)
        unlink(path);
    else if (!ended)
        code = add_lines(&r, status, death);
    int at_close = record_close(&r);
    return code ? code : at_close;
}
