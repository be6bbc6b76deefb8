/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/words.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static bool only(const char *s, const char *allowed)
{
    return *s && s[strspn(s, allowed)] == '\0';
}

void words_quote(struct text *t, const char *s)
{
    if (only(s, LETTERS DIGITS "/._-=:,@+%")) {
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

char *words_quoted(const char *s)
{
    struct text t = {0};
    words_quote(&t, s);
    return t.s;
}

bool words_sbatch(const char *s)
{
    return only(s, LETTERS DIGITS "_.,:=+@/-[]()*&|!?");
}

bool words_option(const char *s)
{
    return only(s, "abcdefghijklmnopqrstuvwxyz" DIGITS "-") && *s != '-';
}

bool words_module(const char *s)
{
    return only(s, LETTERS DIGITS "_.+/-") && *s != '-';
}

bool words_line(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return false;
    return true;
}

bool words_path(const char *s)
{
    return words_line(s) && !strpbrk(s, "%\\");
}
