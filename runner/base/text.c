/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *p)
{
    if (!p) {
        fputs("gradsync: out of memory\n", stderr);
        _Exit(1);
    }
    return p;
}

void auto_free(void *pointer)
{
    void *p;
    memcpy(&p, pointer, sizeof p);
    free(p);
}

void *xmalloc(size_t n)
{
    return checked(malloc(n ? n : 1));
}

void *xcalloc(size_t n, size_t size)
{
    return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n)
{
    return checked(realloc(p, n ? n : 1));
}

void *text_grown(void *array, size_t n, size_t size)
{
    return array && (n & (n - 1)) ? array : xrealloc(array, (n ? 2 * n : 1) * size);
}

char *xstrdup(const char *s)
{
    return checked(strdup(s));
}

void xstrset(char **to, const char *s)
{
    free(*to);
    *to = xstrdup(s);
}

char *xvstrfmt(const char *fmt, va_list args)
{
    char *s = NULL;
    int n = vasprintf(&s, fmt, args);
    return checked(n < 0 ? NULL : s);
}

char *xstrfmt(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *s = xvstrfmt(fmt, args);
    va_end(args);
    return s;
}

void text_addn(struct text *t, const char *s, size_t n)
{
    if (t->len + n + 1 > t->cap) {
        t->cap = (t->len + n + 1) * 2;
        t->s = xrealloc(t->s, t->cap);
    }
    if (n)
        memcpy(t->s + t->len, s, n);
    t->len += n;
    t->s[t->len] = '\0';
}

void text_add(struct text *t, const char *s)
{
    text_addn(t, s, strlen(s));
}

void text_addf(struct text *t, const char *fmt, ...)
{
    va_list args;
    char most[256]; /* without an allocation */
    va_start(args, fmt);
    int n = vsnprintf(most, sizeof most, fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof most) {
        text_addn(t, most, (size_t)n);
        return;
    }
    va_start(args, fmt);
    AUTO_FREE char *s = xvstrfmt(fmt, args);
    va_end(args);
    text_add(t, s);
}

char *text_digits(char *at, uint64_t v)
{
    char digits[20];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + v % 10);
    while (v /= 10);
    while (n)
        *at++ = digits[--n];
    return at;
}

void text_clear(struct text *t)
{
    t->len = 0;
    text_addn(t, "", 0);
}

void text_free(struct text *t)
{
    free(t->s);
    *t = (struct text){0};
}

void words_split(struct words *w, const char *s, char separator)
{
    *w = (struct words){0};
    for (;;) {
        size_t n = strcspn(s, (char[]){separator, '\0'});
        const char *a = s, *b = s + n;
        while (a < b && isspace((unsigned char)*a))
            a++;
        while (b > a && isspace((unsigned char)b[-1]))
            b--;
        words_addf(w, "%.*s", (int)(b - a), a);
        if (!s[n])
            return;
        s += n + 1;
    }
}

static void take_word(struct words *w, char *word)
{
    w->v = xrealloc(w->v, (w->n + 2) * sizeof *w->v);
    w->v[w->n++] = word;
    w->v[w->n] = NULL;
}

void words_add(struct words *w, const char *word)
{
    take_word(w, xstrdup(word));
}

void words_addf(struct words *w, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    take_word(w, xvstrfmt(fmt, args));
    va_end(args);
}

size_t words_find(const struct words *w, const char *word)
{
    size_t i = 0;
    while (i < w->n && strcmp(w->v[i], word) != 0)
        i++;
    return i;
}

bool words_has(const struct words *w, const char *word)
{
    return words_find(w, word) < w->n;
}

size_t words_add_once(struct words *w, const char *word)
{
    size_t i = words_find(w, word);
    if (i == w->n)
        words_add(w, word);
    return i;
}

bool text_lists(const char *list, const char *separator, const char *word)
{
    size_t n = strlen(word);
    for (const char *s = list ? list : ""; *s;) {
        const char *end = strstr(s, separator);
        size_t length = end ? (size_t)(end - s) : strlen(s);
        if (length == n && !strncmp(s, word, n))
            return true;
        s += length + (end ? strlen(separator) : 0);
    }
    return false;
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool text_ends(const char *s, const char *ending)
{
    size_t n = strlen(s), e = strlen(ending);
    return n > e && !strcmp(s + n - e, ending);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void words_sort(struct words *w)
{
    if (w->n)
        qsort(w->v, w->n, sizeof *w->v, by_bytes);
}

void words_free(struct words *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->v[i]);
    free(w->v);
    *w = (struct words){0};
}

bool text_integer(const char *s, long long min, long long max, long long *value, const char **end)
{
    char *behind;
    errno = 0;
    *value = strtoll(s, &behind, 10);
    *end = behind;
    return behind != s && !errno && *value >= min && *value <= max;
}

size_t text_width(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

/* ---- the nearest name ---- */

/* Fewer letters are part of too many names. */
#define PART_MIN 3

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Letters to change, add, drop or swap with their neighbour; by rows, names are short. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(b);
    if (n > 127)
        return SIZE_MAX;
    size_t before[128], last[128] = {0}, row[128]; /* before, last: the rows above */
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        memcpy(before, last, sizeof before);
        memcpy(last, row, sizeof last);
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = least(last[j] + 1, row[j - 1] + 1);
            row[j] = least(row[j], last[j - 1] + !same_letter(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[n];
}

const char *text_nearest_row(const char *word, const void *first, size_t n, size_t row_size)
{
    const char *best = NULL, *part = NULL;
    size_t best_distance = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        const char *candidate = *(const char *const *)((const char *)first + i * row_size);
        size_t d = distance(word, candidate);
        /* Something must be common: 'x' is not like 'n'. */
        if (d < best_distance && d < strlen(word) && d <= 1 + strlen(candidate) / 5) {
            best = candidate;
            best_distance = d;
        }
        if (!part && strlen(word) >= PART_MIN && strstr(candidate, word))
            part = candidate;
    }
    return best ? best : part;
}

const char *text_nearest(const char *word, const char *const *candidates, size_t n)
{
    return text_nearest_row(word, candidates, n, sizeof *candidates);
}

const char *text_did_you_mean(char *buf, size_t size, const char *open, const char *near,
                              const char *close)
{
    *buf = '\0';
    if (near)
        snprintf(buf, size, ", did you mean %s%s%s?", open, near, close);
    return buf;
}

/* ---- what may be printed ---- */

typedef unsigned char byte;

/* Bytes of the UTF-8 sequence at s; 0: it is none (RFC 3629: no overlong forms, no surrogates,
 * nothing above U+10FFFF). */
static size_t utf8_length(const byte *s)
{
    static const struct {
        byte first_lo, first_hi, second_lo, second_hi;
        size_t length;
    } forms[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t f = 0; f < COUNT(forms); f++) {
        if (s[0] < forms[f].first_lo || s[0] > forms[f].first_hi)
            continue;
        size_t n = forms[f].length;
        if (n > 1 && (s[1] < forms[f].second_lo || s[1] > forms[f].second_hi))
            return 0;
        for (size_t i = 2; i < n; i++)
            if ((s[i] & 0xc0) != 0x80)
                return 0;
        return n;
    }
    return 0;
}

/* C1 controls; U+061C, U+200E and U+200F; U+2028 to U+202E; U+2066 to U+2069. */
static bool is_hidden(const byte *s, size_t n)
{
    if (n == 2)
        return (s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xd8 && s[1] == 0x9c);
    if (n != 3 || s[0] != 0xe2)
        return false;
    return (s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae))) ||
           (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

/* The length in bytes of a forbidden character at s: a control character (C0, DEL, C1), a line
 * separator, a character that changes the direction of text, or a byte that is not UTF-8 (RFC 3629).
 * 0: the character is allowed, or s ends. */
static size_t printable_fault(const char *s)
{
    const byte *u = (const byte *)s;
    if (!*u)
        return 0;
    size_t n = utf8_length(u);
    if (n == 0)
        return 1;
    return (n == 1 && (*u < 0x20 || *u == 0x7f)) || is_hidden(u, n) ? n : 0;
}

/* The end of the run of bytes from s on that are printable or in `also`. */
static const char *good_until(const char *s, const char *also)
{
    for (; *s; s++) {
        if (*s >= 0x20 && *s < 0x7f) /* most text is ASCII */
            continue;
        if (!strchr(also, *s) && printable_fault(s))
            break;
        s += utf8_length((const byte *)s) - 1;
    }
    return s;
}

bool printable(const char *s, const char *also)
{
    return !*good_until(s, also);
}

char *printable_make(char *s, const char *also)
{
    char *to = s;
    for (const char *from = s, *end;;) {
        end = good_until(from, also);
        memmove(to, from, (size_t)(end - from));
        to += end - from;
        if (!*end)
            break;
        from = end + printable_fault(end);
        *to++ = (byte)*end < 0x20 ? ' ' : '?';
    }
    *to = '\0';
    return s;
}

bool printable_name(const char *s)
{
    const char *c = s; /* by hand: strspn is slow, and every member of a recording is checked */
    while ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
           *c == '.' || *c == '_' || *c == '-')
        c++;
    return c > s && !*c && *s != '.' && *s != '-';
}

bool printable_words(const char *s)
{
    return *s != '-' && !s[strcspn(s, "'`\\$<>&|;{}")] && printable(s, "");
}

bool printable_label(const char *s)
{
    return printable_words(s) && !strchr(s, '"');
}

static const char not_in_labels[] = "\"'`\\$<>&|;{}";

char *label_from(const char *value)
{
    struct text t = {0};
    text_add(&t, "");
    for (const char *s = value; *s; s++) {
        bool first = s == value && *s == '-';
        bool code = *s == '%' && isxdigit((byte)s[1]) && isxdigit((byte)s[2]);
        size_t bad = printable_fault(s);
        for (size_t i = 0; i < bad; i++)
            text_addf(&t, "%%%02X", (byte)s[i]);
        if (bad)
            s += bad - 1;
        else if (first || code || strchr(not_in_labels, *s))
            text_addf(&t, "%%%02X", (byte)*s);
        else
            text_addn(&t, s, 1);
    }
    return t.s;
}

char *label_value(const char *label)
{
    struct text t = {0};
    text_add(&t, "");
    for (const char *s = label; *s; s++) {
        unsigned c = 0;
        bool code = *s == '%' && sscanf(s + 1, "%2X", &c) == 1 && isxdigit((byte)s[1]) &&
                    isxdigit((byte)s[2]);
        bool ours = code && (c < 0x20 || c >= 0x7f || strchr("%-", (int)c) ||
                             strchr(not_in_labels, (int)c));
        text_addn(&t, ours ? (const char[]){(char)c} : s, 1);
        s += ours ? 2 : 0;
    }
    return t.s;
}
