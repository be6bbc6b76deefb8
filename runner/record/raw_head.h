/* SPDX-License-Identifier: Apache-2.0
 *
 * The members of a line in the form that gradsync writes, in a table instead of a tree. It accepts
 * less than JSON: what it accepts, the JSON library and json_names.h accept as well.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define RAW_MEMBERS 512

/* A member of an object, or an element of an array, whose key is that of the array. */
struct raw_member {
    const char *key, *value; /* a text ends with '\0'; of another value, this is where it starts */
    size_t key_n, text_n;
    const struct raw_member *in,
        *before; /* what holds it (NULL: the line), and its neighbour there */
    char kind;   /* 'i' integer, 'r' real, else its first byte */
};

struct raw_head {
    size_t n;
    struct raw_member v[RAW_MEMBERS];
};

/* Splits the line of n bytes, which a '\0' follows. False: the line is not of this form, and is unchanged. */
bool raw_head_read(struct raw_head *h, char *s, size_t n);
/* The member of the line, or of its member `in` (NULL: of the line itself); NULL: there is none. */
const struct raw_member *raw_head_find(const struct raw_head *h, const char *in, const char *key);
