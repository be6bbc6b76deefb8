/* SPDX-License-Identifier: Apache-2.0 */
#include "base/prometheus.h"

void prometheus_label(struct text *t, const char *name, const char *value)
{
    text_addf(t, "%s%s=\"", t->s[t->len - 1] == '{' ? "" : ",", name);
    for (const char *c = value; *c; c++)
        if (*c == '\n')
            text_add(t, "\\n");
        else
            text_addf(t, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    text_add(t, "\"");
}
