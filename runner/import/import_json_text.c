/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_json_text.h"

#include "base/jsontext.h"
#include "import/import_words.h"

#include <stdlib.h>
#include <string.h>

/* A call of strspn takes longer than the number behind the blanks. */
static const char *skip_blank(const char *s)
{
    while (*s == ' ' || *s == '\t' || *s == '\r' || *s == '\n')
        s++;
    return s;
}

/* The ']' of a list of one number or more; NULL: it has something else. */
static const char *end_of(const char *first)
{
    bool integer;
    for (const char *s = first;; s++) {
        s = json_number_end(skip_blank(s), &integer);
        s = s ? skip_blank(s) : NULL;
        if (!s || *s != ',')
            return s && *s == ']' ? s : NULL;
    }
}

/* Adds the report up to the list, and the lines that the list ends. */
static void cut(struct text *out, const struct text *report, const char **from, const char *first,
                const char *end)
{
    text_addn(out, *from, (size_t)(first - *from));
    text_addf(out, "%zu", (size_t)(first - report->s));
    for (const char *s = first; (s = memchr(s, '\n', (size_t)(end - s))); s++)
        text_add(out, "\n");
    *from = end;
}

bool json_text_cut(struct text *out, const struct text *report)
{
    static const char key[] = "\"times_us\"";
    const char *from = report->s;
    bool plain = !strstr(report->s, "\\u"); /* which may hide the name */
    for (const char *at = from; plain && (at = strstr(at, key));) {
        const char *s = skip_blank(at + sizeof key - 1);
        bool list =
            (at == report->s || at[-1] != '\\') && *s == ':' && *(s = skip_blank(s + 1)) == '[';
        const char *end = list ? end_of(s + 1) : NULL;
        if (end)
            cut(out, report, &from, s + 1, end);
        at = end ? end : at + sizeof key - 1;
    }
    text_addn(out, from, report->len - (size_t)(from - report->s));
    return plain;
}

const char *json_text_times(const struct text *report, const json_t *times)
{
    const json_t *place = json_array_get(times, 0);
    bool cut = json_array_size(times) == 1 && json_is_integer(place);
    return cut ? skip_blank(report->s + json_integer_value(place)) : NULL;
}

const char *json_text_number(const char *s, double *us)
{
    bool integer;
    struct number x;
    const char *end = json_number_end(s, &integer);
    number_read(&x, s, end);
    *us = x.digits >> 53 ? strtod(s, NULL) : x.value;
    s = skip_blank(end);
    return *s == ',' ? skip_blank(s + 1) : NULL;
}

bool json_text_close(struct text *t)
{
    char outer[2] = "";
    size_t depth = 0, whole = 0;
    bool in_string = false, in_array = false;
    for (size_t i = 0; i < t->len; i++) {
        char c = t->s[i];
        if (in_string) {
            i += c == '\\';
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (depth < 2)
                outer[depth] = c;
            depth++;
        } else if ((c == '}' || c == ']') && depth) {
            depth--;
            if (depth == 1 || (depth == 2 && outer[1] == '[')) {
                whole = i + 1;
                in_array = depth == 2;
            }
        }
    }
    if (!depth || !whole)
        return false;
    t->len = whole;
    text_add(t, in_array ? "]}" : "}");
    return true;
}
