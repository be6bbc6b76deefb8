/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jsontext.h"

#include "base/printable.h"
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
