/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jsontext.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the UTF-8 sequence at s, 0 if it is none that JSON may hold (RFC 3629: no overlong
 * forms, no surrogates, nothing above U+10FFFF). */
static size_t utf8_length(const unsigned char *s)
{
    static const struct {
        unsigned char first_lo, first_hi, second_lo, second_hi;
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

json_t *json_text(const char *s)
{
    char *clean = xstrdup(s ? s : "");
    for (char *p = clean; *p;) {
        size_t n = utf8_length((const unsigned char *)p);
        if (n == 0)
            *p = '?';
        else if (n == 1 && ((unsigned char)*p < 0x20 || *p == 0x7f))
            *p = ' ';
        p += n ? n : 1;
    }
    json_t *text = json_string(clean);
    free(clean);
    return text;
}
