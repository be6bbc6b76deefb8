/* SPDX-License-Identifier: Apache-2.0 */
#include "record/raw_head.h"

#include "base/json_names.h"
#include "base/jsontext.h"
#include "base/printable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INTEGER_BYTES 18 /* that an int64_t holds, whatever the digits */

/* ---- values: each function returns the end of what begins at s, or NULL: not of this form ---- */

static const char *skip_number(const char *s, char *kind)
{
    bool integer;
    const char *end = json_number_end(s, &integer);
    if (!end)
        return NULL;
    *kind = integer ? 'i' : 'r';
    return (integer ? end - s <= INTEGER_BYTES : isfinite(strtod(s, NULL))) ? end : NULL;
}

/* Up to the quote: printable ASCII without escapes. */
static const char *skip_text(const char *s)
{
    while (*s >= 0x20 && *s < 0x7f && *s != '"' && *s != '\\')
        s++;
    return *s == '"' ? s : NULL;
}

static const char *skip_word(const char *s)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(s, words[i], strlen(words[i])))
            return s + strlen(words[i]);
    return NULL;
}

static const char *read_members(struct raw_head *h, const char *s, const struct raw_member *in);

static const char *read_value(struct raw_head *h, struct raw_member *m, const char *s)
{
    m->kind = *s;
    m->value = s;
    if (*s == '"') {
        m->value = s + 1;
        s = skip_text(m->value);
        m->text_n = s ? (size_t)(s - m->value) : 0;
        return s ? s + 1 : NULL;
    }
    if (*s == '{' || *s == '[')
        return read_members(h, s, m);
    return *s >= 'a' ? skip_word(s) : skip_number(s, &m->kind);
}

/* Sets the key, which no neighbour may have. */
static const char *read_key(struct raw_member *m, const char *s)
{
    const char *quote = *s == '"' ? skip_text(s + 1) : NULL;
    if (!quote || quote[1] != ':')
        return NULL;
    m->key = s + 1;
    m->key_n = (size_t)(quote - m->key);
    for (const struct raw_member *k = m->before; k; k = k->before)
        if (k->key_n == m->key_n && !memcmp(k->key, m->key, m->key_n))
            return NULL;
    return quote + 2;
}

/* The object or array at s. */
static const char *read_members(struct raw_head *h, const char *s, const struct raw_member *in)
{
    const bool array = *s == '[';
    const char close = array ? ']' : '}';
    const struct raw_member *before = NULL;
    for (bool more = *++s != close; more; s += more) {
        if (h->n == RAW_MEMBERS)
            return NULL;
        struct raw_member *m = &h->v[h->n++];
        *m = (struct raw_member){.in = in, .before = before};
        if (array)
            m->key = in->key, m->key_n = in->key_n;
        else
            s = read_key(m, s);
        s = s ? read_value(h, m, s) : NULL;
        if (!s)
            return NULL;
        before = m;
        more = *s == ',';
    }
    return *s == close ? s + 1 : NULL;
}

/* ---- texts ---- */

/* Writes `with` over the quotes behind the keys and the texts. */
static void end_texts(const struct raw_head *h, char *line, char with)
{
    for (const struct raw_member *m = h->v; m < h->v + h->n; m++) {
        line[m->key - line + (ptrdiff_t)m->key_n] = with;
        if (m->kind == '"')
            line[m->value - line + (ptrdiff_t)m->text_n] = with;
    }
}

static bool good(const struct raw_member *m)
{
    bool simple = printable_name(m->key);
    if (m->kind != '"' || !*m->value || printable_name(m->value))
        return simple;
    for (const struct raw_member *p = m; p && simple; p = p->in)
        simple = json_names_simple(p->key, m->value);
    return simple;
}

bool raw_head_read(struct raw_head *h, char *s, size_t n)
{
    h->n = 0;
    const char *end = *s == '{' ? read_members(h, s, NULL) : NULL;
    if (end != s + n)
        return false;
    end_texts(h, s, '\0');
    for (const struct raw_member *m = h->v; m < h->v + h->n; m++)
        if (!good(m)) {
            end_texts(h, s, '"');
            return false;
        }
    return true;
}

const struct raw_member *raw_head_find(const struct raw_head *h, const char *in, const char *key)
{
    const struct raw_member *parent = in ? raw_head_find(h, NULL, in) : NULL;
    if (in && (!parent || parent->kind != '{'))
        return NULL;
    for (const struct raw_member *m = h->v; m < h->v + h->n; m++)
        if (m->in == parent && *m->key == *key && !strcmp(m->key, key))
            return m;
    return NULL;
}
