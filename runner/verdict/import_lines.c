/* SPDX-License-Identifier: Apache-2.0 */
#include "import_lines.h"

#include "../err.h"
#include "../locate.h"
#include "../text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
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
        return locate_failed(GS_FAILED, path);
    if (!S_ISREG(st.st_mode) || st.st_size == 0) {
        close(in->fd);
        in->fd = -1;
        return fail_at(GS_FAILED, path, 0, "refused: %s",
                       S_ISREG(st.st_mode) ? "it is empty"
                                           : "no regular file, and imports name what they read");
    }
    in->buf = xmalloc(LINES_MAX + CHUNK + 1);
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

/* Past the rest of a line that is too long to be kept. */
static int skip_rest(struct lines *in)
{
    for (;;) {
        char *nl = memchr(in->buf + in->at, '\n', in->end - in->at);
        if (nl) {
            in->at = (size_t)(nl - in->buf) + 1;
            return 0;
        }
        in->at = in->end;
        in->torn = in->eof;
        if (in->eof)
            return 0;
        /* The start of the line stays where it is: what follows is read behind it. */
        in->at = in->end = LINES_MAX + 1;
        ssize_t n = read(in->fd, in->buf + in->end, CHUNK - 1);
        if (n < 0 && errno != EINTR) {
            fail_at(GS_FAILED, in->path, (int)in->number, "cannot be read: %s", strerror(errno));
            return -1;
        }
        in->eof = n == 0;
        if (n > 0) {
            crypto_hash_sha256_update(&in->hash, (const unsigned char *)in->buf + in->end,
                                      (unsigned long long)n);
            in->end += (size_t)n;
        }
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
    int got = find_line(in, n);
    if (got <= 0)
        return got;
    in->number++;
    if (in->cut) {
        memmove(in->buf, in->buf + in->at, in->end - in->at);
        in->end -= in->at;
        in->at = *n;
        memmove(in->buf + LINES_MAX + 1, in->buf + in->at, in->end - in->at);
        in->end += LINES_MAX + 1 - in->at;
        in->at = LINES_MAX + 1;
        *line = in->buf;
        if (skip_rest(in))
            return -1;
    } else {
        *line = in->buf + in->at;
        in->at += *n + !in->torn;
    }
    (*line)[*n] = '\0';
    if (memchr(*line, '\0', *n)) {
        fail_at(GS_FAILED, in->path, (int)in->number, "refused: binary (a NUL byte is no text)");
        return -1;
    }
    while (*n && (*line)[*n - 1] == '\r')
        (*line)[--*n] = '\0';
    return 1;
}

int lines_all(struct lines *in, struct text *out, size_t max)
{
    text_add(out, "");
    for (;;) {
        size_t n = in->end - in->at;
        if (memchr(in->buf + in->at, '\0', n))
            return fail_at(GS_FAILED, in->path, 0, "refused: binary (a NUL byte is no text)");
        if (out->len + n > max)
            return fail_at(GS_FAILED, in->path, 0, "refused: more than %zu MiB in one piece",
                           max >> 20);
        text_addn(out, in->buf + in->at, n);
        in->at = in->end;
        if (in->eof)
            return GS_OK;
        if (fill(in))
            return GS_FAILED;
    }
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
    in->buf = NULL;
}

/* ---- words ---- */

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

size_t words_of(const char *line, struct word *out, size_t max)
{
    size_t n = 0;
    for (const char *s = line; *s;) {
        while (blank(*s))
            s++;
        const char *start = s;
        while (*s && !blank(*s))
            s++;
        if (s > start && n++ < max)
            out[n - 1] = (struct word){start, (size_t)(s - start)};
    }
    return n;
}

bool word_is(const struct word *w, const char *text)
{
    return strlen(text) == w->n && !memcmp(w->s, text, w->n);
}

bool word_integer(const struct word *w, int64_t *out)
{
    size_t i = w->n && (*w->s == '-' || *w->s == '+');
    int64_t v = 0;
    if (i == w->n || w->n > 18)
        return false;
    for (; i < w->n; i++) {
        if (w->s[i] < '0' || w->s[i] > '9')
            return false;
        v = v * 10 + (w->s[i] - '0');
    }
    *out = *w->s == '-' ? -v : v;
    return true;
}

bool text_plain(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '_')
            return false;
    return n > 0 && n < 32;
}

const char *word_copy(char *buf, size_t n, const struct word *w)
{
    snprintf(buf, n, "%.*s", (int)(w->n < n ? w->n : n - 1), w->s);
    return buf;
}

/* ---- numbers ---- */

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define EXACT 22 /* powers of ten that a double holds exactly */

static double times_power(double v, int exponent)
{
    if (exponent >= 0 && exponent <= EXACT)
        return v * powers[exponent];
    if (exponent < 0 && exponent >= -EXACT)
        return v / powers[-exponent];
    return v * pow(10, exponent);
}

static bool read_word(struct number *out, const char *s, const char *end)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((size_t)(end - s) == strlen(words[i]) && !strncasecmp(s, words[i], (size_t)(end - s))) {
            out->value = i ? INFINITY : NAN;
            return true;
        }
    return false;
}

/* "e+06" at s. */
static const char *read_exponent(const char *s, const char *end, int *exponent)
{
    int e = 0;
    if (s == end || (*s != 'e' && *s != 'E'))
        return s;
    s++;
    bool negative = s < end && *s == '-';
    s += s < end && (*s == '-' || *s == '+');
    if (s == end)
        return NULL;
    for (; s < end && *s >= '0' && *s <= '9'; s++)
        e = e < 1000 ? e * 10 + (*s - '0') : e;
    *exponent += negative ? -e : e;
    return s;
}

bool number_read(struct number *out, const char *s, const char *end)
{
    *out = (struct number){0};
    const char *stop = s;
    while (stop < end && *stop && !blank(*stop))
        stop++;
    out->negative = s < stop && *s == '-';
    s += s < stop && (*s == '-' || *s == '+');
    const char *first = s;
    bool point = false, any = false;
    for (; s < stop && ((*s >= '0' && *s <= '9') || (*s == '.' && !point)); s++) {
        if (*s == '.') {
            point = true;
            continue;
        }
        any = true;
        bool room =
            out->digits < 100000000000000000; /* 18 digits: what follows is below a double */
        if (room)
            out->digits = out->digits * 10 + (uint64_t)(*s - '0');
        out->exponent += room ? -point : !point;
    }
    if (!any)
        return read_word(out, first, stop);
    s = read_exponent(s, stop, &out->exponent);
    if (s != stop)
        return false;
    out->finite = true;
    out->value = times_power((double)out->digits, out->exponent) * (out->negative ? -1 : 1);
    out->half = times_power(0.5, out->exponent);
    return isfinite(out->value) || (out->finite = false, true);
}

bool number_scaled(const struct number *x, int shift, uint64_t *out)
{
    int e = x->exponent + shift;
    uint64_t v = x->digits;
    if (!x->finite)
        return false;
    for (; e > 0 && v; e--)
        if (__builtin_mul_overflow(v, 10, &v))
            return false;
    uint64_t dropped = 0;
    for (; e < 0 && (v || dropped); e++) {
        dropped = v % 10;
        v /= 10;
        if (!v && e < -1)
            dropped = 0;
    }
    v += dropped >= 5;
    *out = v;
    return v < 1000000000000000000;
}
