/* SPDX-License-Identifier: Apache-2.0 */
#include "record/raw_head.h"

#include "base/printable.h"

#include <string.h>

#define INTEGER_DIGITS 18 /* that an int64_t holds, whatever they are */
#define NUMBER_BYTES 40   /* with two digits of exponent: no double overflows */

static const char *skip_digits(const char *s)
{
    while ((unsigned char)(*s - '0') <= 9)
        s++;
    return s;
}

/* The end of the number at s; NULL: not a simple one. */
static const char *skip_number(const char *s, char *kind)
{
    const char *start = s, *first = s + (*s == '-'), *from;
    s = skip_digits(first);
    if (s == first || (*first == '0' && s > first + 1))
        return NULL;
    *kind = 'i';
    if (*s == '.') {
        *kind = 'r';
        s = skip_digits(from = s + 1);
        if (s == from)
            return NULL;
    }
    if (*s == 'e' || *s == 'E') {
        *kind = 'r';
        from = s + 1 + (s[1] == '-' || s[1] == '+');
        s = skip_digits(from);
        if (s == from || s > from + 2)
            return NULL;
    }
    return s - start <= (*kind == 'i' ? INTEGER_DIGITS : NUMBER_BYTES) ? s : NULL;
}

/* The quote behind a text of printable ASCII without escapes; NULL: another one. */
static const char *skip_text(const char *s)
{
    while (*s >= 0x20 && *s < 0x7f && *s != '"' && *s != '\\')
        s++;
    return *s == '"' ? s : NULL;
}

/* [1,null,2.5]: the values of the ranks */
static const char *skip_numbers(const char *s)
{
    char kind;
    if (s[1] == ']')
        return s + 2;
    do {
        s = !strncmp(s + 1, "null", 4) ? s + 5 : skip_number(s + 1, &kind);
    } while (s && *s == ',');
    return s && *s == ']' ? s + 1 : NULL;
}

static bool repeated(const struct raw_head *h, const struct raw_member *m)
{
    for (const struct raw_member *k = h->v; k < m; k++)
        if (k->in == m->in && k->key_n == m->key_n && !memcmp(k->key, m->key, m->key_n))
            return true;
    return false;
}

static const char *read_members(struct raw_head *h, const char *s, const struct raw_member *in);

/* An object holds texts only if its own name allows them, so others than these are not read here. */
static bool holds_numbers(const struct raw_member *m)
{
    return !m->in && ((m->key_n == 7 && !memcmp(m->key, "metrics", 7)) ||
                      (m->key_n == 4 && !memcmp(m->key, "each", 4)));
}

static const char *read_value(struct raw_head *h, struct raw_member *m, const char *s)
{
    m->kind = *s;
    m->value = s;
    switch (*s) {
    case '"':
        m->value = s + 1;
        s = m->in ? NULL : skip_text(m->value);
        m->text_n = s ? (size_t)(s - m->value) : 0;
        return s ? s + 1 : NULL;
    case '{':
        return holds_numbers(m) ? read_members(h, s, m) : NULL;
    case '[':
        return skip_numbers(s);
    default:
        return skip_number(s, &m->kind);
    }
}

/* The end of the object at s. */
static const char *read_members(struct raw_head *h, const char *s, const struct raw_member *in)
{
    bool more = s[1] != '}';
    for (s++; more; s += more) {
        if (*s != '"' || h->n == RAW_MEMBERS)
            return NULL;
        struct raw_member *m = &h->v[h->n++];
        *m = (struct raw_member){.key = s + 1, .in = in};
        s = skip_text(m->key);
        if (!s || s[1] != ':')
            return NULL;
        m->key_n = (size_t)(s - m->key);
        if (repeated(h, m) || !(s = read_value(h, m, s + 2)))
            return NULL;
        more = *s == ',';
    }
    return *s == '}' ? s + 1 : NULL;
}

/* A name is good wherever a text is (json_names.h); of a note, many values are longer. */
static bool good(const struct raw_member *m)
{
    return !*m->value || printable_name(m->value) ||
           (m->key_n == 5 && !memcmp(m->key, "value", 5) && printable_label(m->value));
}

static void end_texts(const struct raw_head *h, char *line, char with)
{
    for (const struct raw_member *m = h->v; m < h->v + h->n; m++)
        if (m->kind == '"')
            line[m->value - line + (ptrdiff_t)m->text_n] = with;
}

bool raw_head_read(struct raw_head *h, char *s)
{
    h->n = 0;
    const char *end = read_members(h, s, NULL);
    if (!end || *end)
        return false;
    end_texts(h, s, '\0');
    for (const struct raw_member *m = h->v; m < h->v + h->n; m++)
        if (m->kind == '"' && !good(m)) {
            end_texts(h, s, '"');
            return false;
        }
    return true;
}

const struct raw_member *raw_head_find(const struct raw_head *h, const char *in, const char *key)
{
    const struct raw_member *parent = in ? raw_head_find(h, NULL, in) : NULL;
    size_t n = strlen(key);
    for (const struct raw_member *m = h->v; (parent || !in) && m < h->v + h->n; m++)
        if (m->in == parent && m->key_n == n && !memcmp(m->key, key, n))
            return m;
    return NULL;
}
