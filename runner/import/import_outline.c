/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_outline.h"

#include "base/err.h"
#include "import/import.h"

#include <stdlib.h>
#include <string.h>

struct outline {
    struct lines *in;
    const struct outline_reader *r;
    struct text object, element;
    size_t after_array; /* where the object went on behind the array; 0: not yet */
    int depth;
    bool in_string, escaped;
    char word[32]; /* the last string of the outermost object */
    size_t word_n;
    bool member; /* it is the array's key, and its value comes */
    bool in_array;
};

/* ---- bytes ---- */

static int refuse_json(struct outline *o, const char *text, json_t **out)
{
    json_error_t why;
    *out = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    return *out ? GS_OK : import_refuse(o->in, "no JSON: %s in line %d", why.text, why.line);
}

static int open_array(struct outline *o)
{
    char *closed = xstrfmt("%s[]}", o->object.s);
    json_t *object;
    int code = refuse_json(o, closed, &object);
    free(closed);
    if (!code)
        code = o->r->head(o->r->ctx, object);
    json_decref(object);
    return code;
}

static int give_element(struct outline *o)
{
    size_t n = o->element.len;
    char *s = o->element.s;
    bool blank = !n || strspn(s, " \t\r\n") == n;
    int code = blank ? GS_OK : o->r->element(o->r->ctx, s, n);
    text_clear(&o->element);
    return code;
}

/* Of a string of the outermost object, that may be a key. */
static void in_string(struct outline *o, char c)
{
    if (o->escaped || c == '\\')
        o->escaped = !o->escaped;
    else if (c == '"')
        o->in_string = false;
    else if (o->depth == 1 && o->word_n < sizeof o->word - 1)
        o->word[o->word_n++] = c;
}

enum place { OBJECT, ELEMENT, COMMA, OPENS, CLOSES };

/* Where the byte belongs. */
static enum place step(struct outline *o, char c)
{
    if (o->in_string) {
        in_string(o, c);
        return o->in_array ? ELEMENT : OBJECT;
    }
    switch (c) {
    case '"':
        o->in_string = true;
        o->word_n = o->depth == 1 ? 0 : o->word_n;
        break;
    case ':':
        o->word[o->word_n] = '\0';
        o->member = o->depth == 1 && !strcmp(o->word, o->r->array);
        break;
    case ',':
        o->member = o->member && o->depth != 1;
        if (o->in_array && o->depth == 2)
            return COMMA;
        break;
    case '[':
    case '{':
        o->depth++;
        if (c == '[' && o->depth == 2 && o->member && !o->after_array) {
            o->in_array = true;
            return OPENS;
        }
        break;
    case ']':
    case '}':
        o->depth--;
        if (o->in_array && o->depth == 1) {
            o->in_array = false;
            return CLOSES;
        }
        break;
    default:
        break;
    }
    return o->in_array ? ELEMENT : OBJECT;
}

/* Past bytes that change nothing where they stand: most are digits of an element's arrays. */
static size_t plain_bytes(const struct outline *o, const char *s, size_t n)
{
    static const bool opens[256] = {
        ['"'] = true, ['['] = true, ['{'] = true, [']'] = true, ['}'] = true};
    size_t i = 0;
    if (o->depth > 2 && !o->in_string)
        while (i < n && !opens[(unsigned char)s[i]])
            i++;
    return i;
}

static int keep(struct outline *o, struct text *t, const char *s, size_t n)
{
    if (t->len + n > OUTLINE_MAX)
        return import_refuse(o->in, "more than %zu MiB in one piece", OUTLINE_MAX >> 20);
    text_addn(t, s, n);
    return GS_OK;
}

/* Runs of bytes of one place at once. */
static int take(struct outline *o, const char *s, size_t n)
{
    int code = GS_OK;
    for (size_t i = 0, from = 0; i < n && !code; from = i) {
        bool inside = o->in_array;
        const enum place here = inside ? ELEMENT : OBJECT;
        enum place place = here;
        do
            i += plain_bytes(o, s + i, n - i);
        while (i < n && (place = step(o, s[i++])) == here);
        bool plain = place == here;
        code = keep(o, inside ? &o->element : &o->object, s + from, i - from - !plain);
        if (code || plain)
            continue;
        if (place == OPENS)
            code = open_array(o);
        else
            code = give_element(o);
        if (place == OPENS)
            text_add(&o->object, "[");
        if (place == CLOSES) {
            text_add(&o->object, "]");
            o->after_array = o->object.len;
        }
    }
    return code;
}

/* ---- the text ---- */

/* Closed where it broke off, when that was inside or behind the array. */
static int finish(struct outline *o, json_t **out, bool *whole)
{
    json_error_t why;
    *whole = true;
    *out = json_loads(o->object.s, JSON_REJECT_DUPLICATES, &why);
    if (*out || o->depth < 1 || (!o->in_array && !o->after_array))
        return *out ? GS_OK : import_refuse(o->in, "no JSON: %s in line %d", why.text, why.line);
    *whole = false;
    if (o->after_array) {
        o->object.len = o->after_array;
        o->object.s[o->after_array] = '\0';
    }
    text_add(&o->object, o->after_array ? "}" : "]}");
    return refuse_json(o, o->object.s, out);
}

int outline_read(struct lines *in, const struct outline_reader *r, json_t **out, bool *whole)
{
    struct outline o = {.in = in, .r = r};
    const char *s;
    size_t n;
    int got = 1, code = GS_OK;
    *out = NULL;
    text_add(&o.object, "");
    text_add(&o.element, "");
    while (!code && (got = lines_piece(in, &s, &n)) == 1)
        code = take(&o, s, n);
    if (!code)
        code = got < 0 ? GS_FAILED : finish(&o, out, whole);
    text_free(&o.object);
    text_free(&o.element);
    return code;
}
