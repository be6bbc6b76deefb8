/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_PIECE ((size_t)64 << 10)

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

char *xstrdup(const char *s)
{
    return checked(strdup(s));
}

void xstrset(char **to, const char *s)
{
    free(*to);
    *to = xstrdup(s);
}

static char *xvstrfmt(const char *fmt, va_list args)
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
    va_start(args, fmt);
    AUTO_FREE char *s = NULL;
    int n = vasprintf(&s, fmt, args);
    va_end(args);
    checked(n < 0 ? NULL : s);
    text_addn(t, s, (size_t)n);
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

void words_free(struct words *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->v[i]);
    free(w->v);
    *w = (struct words){0};
}

const char *text_ranks_on(char *buf, size_t size, long long ranks, long long nodes)
{
    snprintf(buf, size, "%lld rank%s on %lld node%s", ranks, ranks == 1 ? "" : "s", nodes,
             nodes == 1 ? "" : "s");
    return buf;
}

bool text_integer(const char *s, long long min, long long max, long long *value, const char **end)
{
    char *behind;
    errno = 0;
    *value = strtoll(s, &behind, 10);
    *end = behind;
    return behind != s && !errno && *value >= min && *value <= max;
}

bool text_read_file(const char *path, struct text *out)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    struct stat st;
    size_t n, more = !fstat(fileno(f), &st) && S_ISREG(st.st_mode) ? (size_t)st.st_size : 0;
    text_clear(out);
    do {
        more = more < TEXT_PIECE ? TEXT_PIECE : more;
        if (out->len + more + 1 > out->cap)
            out->s = xrealloc(out->s, out->cap = out->len + more + 1);
        n = fread(out->s + out->len, 1, more, f);
        out->len += n;
        more = out->len; /* a pipe, or a file that grows */
    } while (n);
    out->s[out->len] = '\0';
    bool ok = !ferror(f);
    fclose(f);
    return ok;
}

size_t text_width(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}
