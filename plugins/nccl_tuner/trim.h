/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ctype.h>
#include <string.h>

/* Without the white space at both ends; in place. */
static inline char *trim(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    for (char *end = s + strlen(s); end > s && isspace((unsigned char)end[-1]);)
        *--end = '\0';
    return s;
}
