/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jsontext.h"

#include "base/text.h"

#include <stdio.h>

void auto_json(json_t **json)
{
    json_decref(*json);
}

json_t *json_text(const char *s)
{
    AUTO_FREE char *clean = printable_make(xstrdup(s ? s : ""), "");
    return json_string(clean);
}

static const char *skip_digits(const char *s)
{
    while (*s >= '0' && *s <= '9')
        s++;
    return s;
}

const char *json_number_end(const char *s, bool *integer)
{
    const char *first = s + (*s == '-'), *from;
    s = skip_digits(first);
    if (s == first || (*first == '0' && s > first + 1))
        return NULL;
    *integer = *s != '.' && *s != 'e' && *s != 'E';
    if (*s == '.') {
        s = skip_digits(from = s + 1);
        if (s == from)
            return NULL;
    }
    if (*s == 'e' || *s == 'E') {
        from = s + 1 + (s[1] == '-' || s[1] == '+');
        s = skip_digits(from);
        if (s == from)
            return NULL;
    }
    return s;
}

json_t *json_finite(double v)
{
    json_t *number = json_real(v); /* NULL when not finite */
    return number ? number : json_null();
}

void json_print(const json_t *json, size_t flags)
{
    json_dumpf(json, stdout, flags);
    putchar('\n');
}

const char *json_text_of(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

int64_t json_integer_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}
