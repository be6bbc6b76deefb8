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

void csv_decimal(char buf[CSV_DECIMAL], uint64_t time_ns, uint64_t iters, int digits)
{
    uint64_t ns = time_ns / iters, fs = (time_ns % iters * 1000000 + iters / 2) / iters, unit = 1;
    for (int i = digits; i < 9; i++)
        unit *= 10;
    ns += fs / 1000000;
    int n = snprintf(buf, CSV_DECIMAL, "%" PRIu64 ".%0*" PRIu64 "%06" PRIu64, ns / unit,
                     9 - digits, ns % unit, fs % 1000000);
    while (buf[n - 1] == '0')
        n--;
    n -= buf[n - 1] == '.';
    buf[n] = '\0';
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
