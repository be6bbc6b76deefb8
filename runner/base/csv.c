/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"

#include "base/err.h"
#include "base/files.h"
#include "base/units.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER ((size_t)1 << 20)

/* ---- files ---- */

static int cannot_write(const struct csv *c, int error)
{
    return fail_file(c->path, "written", error);
}

int csv_open(struct csv *c, const char *path)
{
    struct stat st;
    /* The rename would put a file in the place of a device or a pipe. */
    if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
        *c = (struct csv){.fd = -1};
        return fail_at(GS_FAILED, path, 0, "cannot be written: not a regular file");
    }
    *c = (struct csv){.path = xstrdup(path)};
    c->temp = files_temporary(path);
    free(files_make_above(path)); /* one that cannot be made is found by the open that follows */
    c->fd = open(c->temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (c->fd >= 0) {
        c->buf = xmalloc(BUFFER);
        return GS_OK;
    }
    int code = cannot_write(c, errno);
    free(c->path);
    free(c->temp);
    *c = (struct csv){.fd = -1};
    return code;
}

static void flush(struct csv *c)
{
    size_t done = 0;
    while (done < c->n && !c->error) {
        ssize_t n = write(c->fd, c->buf + done, c->n - done);
        if (n < 0 && errno != EINTR)
            c->error = errno;
        done += n > 0 ? (size_t)n : 0;
    }
    c->n = 0;
}

int csv_finish(struct csv *c)
{
    int (*last_pass)(struct csv *) = c->last_pass;
    flush(c);
    c->last_pass = NULL;
    if (c->error)
        return cannot_write(c, c->error);
    return last_pass ? last_pass(c) : GS_OK;
}

int csv_close(struct csv *c, bool keep)
{
    if (!c->path)
        return GS_OK;
    int code = keep ? csv_finish(c) : GS_OK;
    int error = close(c->fd) || (keep && !code && rename(c->temp, c->path)) ? errno : 0;
    if (keep && !code && error)
        code = cannot_write(c, error);
    if (!keep || code)
        unlink(c->temp);
    free(c->path);
    free(c->temp);
    free(c->buf);
    *c = (struct csv){.fd = -1};
    return code;
}

void csv_bytes(struct csv *c, const char *s, size_t n)
{
    assert(c->buf); /* open */
    while (n) {
        if (c->n == BUFFER)
            flush(c);
        size_t part = n < BUFFER - c->n ? n : BUFFER - c->n;
        memcpy(c->buf + c->n, s, part);
        c->n += part;
        s += part;
        n -= part;
    }
}

/* ---- fields ---- */

static void quote(struct text *t, const char *s)
{
    if (!s[strcspn(s, ",\"\r\n")]) {
        text_add(t, s);
        return;
    }
    text_add(t, "\"");
    for (const char *q; (q = strchr(s, '"')); s = q + 1) {
        text_addn(t, s, (size_t)(q + 1 - s));
        text_add(t, "\"");
    }
    text_add(t, s);
    text_add(t, "\"");
}

static void put(struct csv *c, const char *s)
{
    if (c->in_row)
        csv_bytes(c, ",", 1);
    c->in_row = true;
    csv_bytes(c, s, strlen(s));
}

void csv_text(struct csv *c, const char *s)
{
    if (c->sink) {
        c->sink->text(c->sink->ctx, s);
        return;
    }
    AUTO_TEXT struct text t = {0};
    text_clear(&t);
    quote(&t, s);
    put(c, t.s);
}

void csv_integer(struct csv *c, int64_t v)
{
    char buf[24];
    if (c->sink) {
        c->sink->integer(c->sink->ctx, v);
        return;
    }
    snprintf(buf, sizeof buf, "%" PRId64, v);
    put(c, buf);
}

void csv_real(struct csv *c, double v)
{
    char buf[32];
    if (c->sink) {
        c->sink->real(c->sink->ctx, v);
        return;
    }
    snprintf(buf, sizeof buf, "%.12g", v);
    put(c, isfinite(v) ? units_double(buf, sizeof buf, strtod(buf, NULL)) : "");
}

void csv_texts(struct csv *c, const char *const *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        csv_text(c, fields[i]);
}

void csv_integers(struct csv *c, const int64_t *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        csv_integer(c, fields[i]);
}

void csv_reals(struct csv *c, const double *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        csv_real(c, fields[i]);
}

void csv_header(struct csv *c, const char *columns)
{
    csv_bytes(c, columns, strlen(columns));
    csv_end(c);
}

void csv_end(struct csv *c)
{
    if (c->sink) {
        c->sink->end(c->sink->ctx);
        return;
    }
    csv_bytes(c, "\n", 1);
    c->in_row = false;
}

void csv_prefix_text(struct text *t, const char *s)
{
    quote(t, s);
    text_add(t, ",");
}

void csv_prefix_integer(struct text *t, int64_t v)
{
    char buf[24];
    int n = snprintf(buf, sizeof buf, "%" PRId64 ",", v);
    text_addn(t, buf, (size_t)n);
}

/* ---- samples ---- */

static const char two_digits[] = "00010203040506070809101112131415161718192021222324"
                                 "25262728293031323334353637383940414243444546474849"
                                 "50515253545556575859606162636465666768697071727374"
                                 "75767778798081828384858687888990919293949596979899";

/* Exactly n digits, zeros in front. */
static char *fixed(char *at, uint32_t v, int n)
{
    int left = n;
    for (; left >= 2; left -= 2, v /= 100)
        memcpy(at + left - 2, two_digits + 2 * (v % 100), 2);
    if (left)
        *at = (char)('0' + v % 10);
    return at + n;
}

static char *plain(char *at, uint64_t v)
{
    char digits[20];
    int n = 0;
    do
        digits[n++] = (char)('0' + v % 10);
    while (v /= 10);
    while (n)
        *at++ = digits[--n];
    return at;
}

static const struct decimal_unit {
    uint64_t fs; /* femtoseconds in one */
    int decimals;
} decimal_units[] = {[CSV_SECONDS] = {1000000000000000u, 15},
                     [CSV_MILLISECONDS] = {1000000000000u, 12},
                     [CSV_MICROSECONDS] = {1000000000u, 9}};

size_t csv_decimal(char *buf, uint64_t time_ns, uint64_t iters, enum csv_unit unit)
{
    __extension__ typedef unsigned __int128 wide;
    const struct decimal_unit *u = &decimal_units[unit];
    uint64_t whole, rest;
    if (time_ns < UINT64_MAX / 1000000 - iters) {
        uint64_t fs = (time_ns * 1000000 + iters / 2) / iters;
        whole = fs / u->fs;
        rest = fs % u->fs;
    } else { /* five hours and more in one sample */
        wide fs = ((wide)time_ns * 1000000 + iters / 2) / iters;
        whole = (uint64_t)(fs / u->fs);
        rest = (uint64_t)(fs % u->fs);
    }
    char *at = plain(buf, whole);
    if (rest) { /* in two halves: divisions of 32 bits are several times cheaper */
        uint32_t low = (uint32_t)(rest % 100000000);
        *at++ = '.';
        at = fixed(at, (uint32_t)(rest / 100000000), u->decimals - 8);
        at = low ? fixed(at, low, 8) : at;
        while (at[-1] == '0')
            at--;
    }
    return (size_t)(at - buf);
}

void csv_samples(struct csv *c, const char *prefix, size_t prefix_n, const uint64_t *time_ns,
                 size_t n, uint64_t iters)
{
    char tail[24 + CSV_DECIMAL];
    for (size_t i = 0; i < n && !c->sink; i++) { /* the store has the samples of the recording */
        char *at = plain(tail, i + 1);
        *at++ = ',';
        at += csv_decimal(at, time_ns[i], iters, CSV_SECONDS);
        *at++ = '\n';
        csv_bytes(c, prefix, prefix_n);
        csv_bytes(c, tail, (size_t)(at - tail));
    }
}

int csv_write_file(const char *path, const char *text)
{
    struct csv file;
    int code = csv_open(&file, path);
    if (code)
        return code;
    csv_bytes(&file, text, strlen(text));
    return csv_close(&file, true);
}
