/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jsontext.h"

#include "base/printable.h"
#include "base/text.h"

#include <stdlib.h>

json_t *json_text(const char *s)
{
    char *clean = printable_make(xstrdup(s ? s : ""), "");
    json_t *text = json_string(clean);
    free(clean);
    return text;
}
