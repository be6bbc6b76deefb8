/* SPDX-License-Identifier: Apache-2.0
 *
 * The members of a block or note line in the form that gradsync writes, without a tree of them. It
 * accepts less than JSON: what it accepts, the JSON library and json_names.h accept as well.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_MEMBERS 48

struct raw_member {
    const char *key, *value; /* a text ends with '\0'; of another value, this is where it starts */
    size_t key_n, text_n;
    const struct raw_member *in; /* the member that holds it; NULL: the line */
    char kind;                   /* '"' text, 'i' integer, 'r' real, else its first byte */
};

struct raw_head {
    struct raw_member v[RAW_MEMBERS];
    size_t n;
};

/* Splits the line at `s`. False: the line is not of this form, and is unchanged. */
bool raw_head_read(struct raw_head *h, char *s);
/* The member of the line, or of its member `in` (NULL: of the line itself); NULL: there is none. */
const struct raw_member *raw_head_find(const struct raw_head *h, const char *in, const char *key);
