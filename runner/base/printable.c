/* SPDX-License-Identifier: Apache-2.0 */
#include "base/printable.h"

#include <string.h>

typedef unsigned char byte;

/* Bytes of the UTF-8 sequence at s; 0: it is none (RFC 3629: no overlong forms, no surrogates,
 * nothing above U+10FFFF). */
static size_t utf8_length(const byte *s)
{
    static const struct {
        byte first_lo, first_hi, second_lo, second_hi;
        size_t length;
    } forms[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        if (s[0] < forms[f].first_lo || s[0] > forms[f].first_hi)
            continue;
        size_t n = forms[f].length;
        if (n > 1 && (s[1] < forms[f].second_lo || s[1] > forms[f].second_hi))
            return 0;
        for (size_t i = 2; i < n; i++)
            if ((s[i] & 0xc0) != 0x80)
                return 0;
        return n;
    }
    return 0;
}

/* C1 controls; U+061C, U+200E and U+200F; U+2028 to U+202E; U+2066 to U+2069. */
static bool is_hidden(const byte *s, size_t n)
{
    if (n == 2)
        return (s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xd8 && s[1] == 0x9c);
    if (n != 3 || s[0] != 0xe2)
        return false;
    return (s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae))) ||
           (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

size_t printable_fault(const char *s)
{
    const byte *u = (const byte *)s;
    if (!*u)
        return 0;
    size_t n = utf8_length(u);
    if (n == 0)
        return 1;
    return (n == 1 && (*u < 0x20 || *u == 0x7f)) || is_hidden(u, n) ? n : 0;
}

/* The end of the run of bytes from s on that are printable or in `also`. */
static const char *good_until(const char *s, const char *also)
{
    for (; *s; s++) {
        if (*s >= 0x20 && *s < 0x7f) /* most text is ASCII */
            continue;
        if (!strchr(also, *s) && printable_fault(s))
            break;
        s += utf8_length((const byte *)s) - 1;
    }
    return s;
}

bool printable(const char *s, const char *also)
{
    return !*good_until(s, also);
}

char *printable_make(char *s, const char *also)
{
    char *to = s;
    for (const char *from = s, *end;;) {
        end = good_until(from, also);
        memmove(to, from, (size_t)(end - from));
        to += end - from;
        if (!*end)
            break;
        from = end + printable_fault(end);
        *to++ = (byte)*end < 0x20 ? ' ' : '?';
    }
    *to = '\0';
    return s;
}

static bool in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
}

bool printable_name(const char *s)
{
    const char *end = s;
    while (in_name(*end))
        end++;
    return end > s && !*end && *s != '.' && *s != '-';
}

bool printable_words(const char *s)
{
    return *s != '-' && !s[strcspn(s, "'`\\$<>&|;{}")] && printable(s, "");
}

bool printable_label(const char *s)
{
    return printable_words(s) && !strchr(s, '"');
}
