/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shell.h"

#include "base/text.h"

#include <string.h>

#define HARMLESS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-=:,@+%"

void shell_quote(struct text *t, const char *s)
{
    if (*s && s[strspn(s, HARMLESS)] == '\0') {
        text_add(t, s);
        return;
    }
    text_add(t, "'");
    for (; *s; s++)
        if (*s == '\'')
            text_add(t, "'\\''");
        else
            text_addn(t, s, 1);
    text_add(t, "'");
}

const char *shell_word(const char *s)
{
    static struct words all;
    AUTO_TEXT struct text t = {0};
    shell_quote(&t, s);
    size_t i = words_add_once(&all, t.s);
    return all.v[i];
}

void python_quote(struct text *t, const char *s)
{
    text_add(t, "\"");
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            text_addf(t, "\\x%02x", (unsigned char)*s);
        else if (*s == '"' || *s == '\\')
            text_addf(t, "\\%c", *s);
        else
            text_addn(t, s, 1);
    text_add(t, "\"");
}
