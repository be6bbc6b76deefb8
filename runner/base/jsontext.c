/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jsontext.h"

#include "base/printable.h"
#include "base/text.h"

void auto_json(json_t **json)
{
    json_decref(*json);
}

json_t *json_text(const char *s)
{
    AUTO_FREE char *clean = printable_make(xstrdup(s ? s : ""), "");
    return json_string(clean);
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
