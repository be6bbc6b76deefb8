/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_text.h"

#include "base/err.h"
#include "base/locate.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

int import_lines_open(struct import_lines *in, const char *path)
{
    struct stat st;
    *in = (struct import_lines){.path = path};
    if (stat(path, &st))
        return locate_failed(GS_USAGE, path, LOCATE_FILE);
    if (S_ISDIR(st.st_mode))
        return fail_at(GS_USAGE, path, 0, "is a folder; name the files in it");
    if (!S_ISREG(st.st_mode))
        return fail_at(GS_FAILED, path, 0, "refused: not a regular file; save the output first");
    if ((size_t)st.st_size > IMPORT_FILE_MAX)
        return fail_at(GS_FAILED, path, 0, "refused: larger than %zu MiB; split the file",
                       IMPORT_FILE_MAX >> 20);
    if (!text_read_file(path, &in->text))
        return locate_failed(GS_USAGE, path, LOCATE_FILE);
    if (!in->text.len)
        return fail_at(GS_FAILED, path, 0, "refused: the file is empty");
    if (memchr(in->text.s, '\0', in->text.len))
        return fail_at(GS_FAILED, path, 0, "refused: binary; text has no NUL byte");
    return GS_OK;
}

static void restore(struct import_lines *in)
{
    if (in->stop)
        *in->stop = in->stopped;
    in->stop = NULL;
}

bool import_lines_next(struct import_lines *in, char **line)
{
    restore(in);
    if (in->at >= in->text.len)
        return false;
    char *s = *line = in->text.s + in->at, *newline = memchr(s, '\n', in->text.len - in->at);
    size_t n = newline ? (size_t)(newline - s) : in->text.len - in->at;
    in->number++;
    in->torn = !newline;
    in->cut = n > IMPORT_LINE_MAX;
    in->at += n + !in->torn;
    n = in->cut ? IMPORT_LINE_MAX : n;
    while (n && s[n - 1] == '\r')
        n--;
    in->stop = s + n;
    in->stopped = s[n];
    s[n] = '\0';
    return true;
}

void import_lines_rewind(struct import_lines *in)
{
    restore(in);
    in->at = in->number = 0;
    in->torn = in->cut = false;
}

void import_lines_close(struct import_lines *in)
{
    text_free(&in->text);
}

/* ---- words ---- */

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

size_t words_of(const char *line, struct word *out, size_t max)
{
    size_t n = 0;
    for (const char *s = line; *s && n <= max;) {
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
    size_t length = w->n < n ? w->n : n - 1;
    if (length) /* a row may lack the word */
        memcpy(buf, w->s, length);
    buf[length] = '\0';
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

/* After the point, `fraction` is 1. */
static const char *read_digits(struct number *out, const char *s, const char *end, int fraction)
{
    for (unsigned digit; s < end && (digit = (unsigned)(*s - '0')) <= 9; s++) {
        bool room = out->digits < 100000000000000000; /* 18 digits: more than a double holds */
        if (room)
            out->digits = out->digits * 10 + digit;
        out->exponent += room ? -fraction : !fraction;
    }
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
    const char *first = s, *point = s = read_digits(out, s, stop, 0);
    if (s < stop && *s == '.')
        s = read_digits(out, s + 1, stop, 1);
    if (point == first && s <= point + 1)
        return read_word(out, first, stop);
    s = read_exponent(s, stop, &out->exponent);
    if (s != stop)
        return false;
    out->finite = true;
    out->value = times_power((double)out->digits, out->exponent) * (out->negative ? -1 : 1);
    out->half = times_power(0.5, out->exponent);
    return isfinite(out->value) || (out->finite = false, true);
}

bool word_number(const struct word *w, struct number *out)
{
    return number_read(out, w->s, w->s + w->n);
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

char *import_past_tag(char *line)
{
    char *s = line + strspn(line, " ");
    size_t digits = strspn(s, "0123456789");
    if (digits && s[digits] == ':' && (s[digits + 1] == ' ' || s[digits + 1] == '#'))
        return s + digits + 1 + (s[digits + 1] == ' ');
    if (*s == '[' && s[1] && strspn(s + 1, "0123456789")) {
        char *end = strstr(s, "<std");
        char *close = end ? strchr(end, ':') : NULL;
        if (close && end - s < 24 && close - end < 10)
            return close + 1 + (close[1] == ' ');
    }
    return line;
}

/* A message may follow a field of a row without a blank: "-1node0", "sumnode0". Returns where its
 * host begins. `words`: how many words are before s in the line. */
static char *past_field(char *s, size_t words)
{
    static const char *const ops[] = {"sum", "prod", "max", "min", "avg", "mulsum"};
    struct number x;
    char *host = s;
    while (*host && *host != ':' && *host != ' ' && !isalpha((unsigned char)*host))
        host++;
    if (host > s && isalpha((unsigned char)*host)) {
        bool field = number_read(&x, s, host);
        return field ? host : s;
    }
    for (size_t i = 0; words == 3 && i < sizeof ops / sizeof *ops; i++)
        if (!strncmp(s, ops[i], strlen(ops[i])))
            return s + strlen(ops[i]);
    return s;
}

/* Where a time before s begins, "[2026-01-31 12:00:00] "; s if there is none. */
static char *with_time(const char *line, char *s)
{
    char *time = s;
    while (time > line && time[-1] == ' ')
        time--;
    if (time == line || time[-1] != ']')
        return s;
    while (time > line && *time != '[')
        time--;
    return time;
}

char *import_message_in(char *line)
{
    static const char *const kinds[] = {"] NCCL INFO", "] NCCL WARN", "] NCCL TRACE", "] NCCL CALL",
                                        "] NCCL ABORT"};
    struct word w[3];
    char *at = NULL;
    if (!strstr(line, "] NCCL "))
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !at; i++)
        at = strstr(line, kinds[i]);
    if (!at)
        return NULL;
    while (at > line && *at != '[')
        at--;
    while (at > line && at[-1] == ' ')
        at--;
    while (at > line && at[-1] != ' ' && at[-1] != ']')
        at--;
    char keep = *at;
    *at = '\0';
    size_t words = words_of(line, w, 3);
    *at = keep;
    return with_time(line, past_field(at, words));
}
