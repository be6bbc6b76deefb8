/* SPDX-License-Identifier: Apache-2.0 */
#include "record/record_end.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "record/raw.h"
#include "record/record.h"

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

/* *closed: the recording has an end line. GS_OK or reported. */
static int has_end(const char *path, bool *closed)
{
    struct raw *r;
    struct raw_line line;
    *closed = false;
    int code = raw_open(&r, path);
    if (code)
        return code;
    int got = raw_next(r, 1u << RAW_END, &line);
    *closed = got == 1;
    raw_close(r);
    return got < 0 ? GS_FAILED : GS_OK;
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
    bool closed;
    if (access(path, F_OK) || record_is_being_written(path))
        return GS_OK;
    int code = record_reopen(&r, path);
    if (code)
        return code;
    if (lseek(r.fd, 0, SEEK_END) == 0) {
        unlink(path);
        return record_close(&r);
    }
    code = has_end(path, &closed);
    if (!code && !closed)
        code = add_lines(&r, status, death);
    int at_close = record_close(&r);
    return code ? code : at_close;
}
