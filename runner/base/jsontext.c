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
