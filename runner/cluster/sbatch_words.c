/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/sbatch_words.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static bool only(const char *s, const char *allowed)
{
    return *s && s[strspn(s, allowed)] == '\0';
}

bool sbatch_words_value(const char *s)
{
    return only(s, LETTERS DIGITS "_.,:=+@/-[]()*&|!?");
}

bool sbatch_words_option(const char *s)
{
    return only(s, "abcdefghijklmnopqrstuvwxyz" DIGITS "-") && *s != '-';
}

bool sbatch_words_module(const char *s)
{
    return only(s, LETTERS DIGITS "_.+/-") && *s != '-';
}

bool sbatch_words_line(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return false;
    return true;
}

bool sbatch_words_path(const char *s)
{
    return sbatch_words_line(s) && !strpbrk(s, "%\\");
}
