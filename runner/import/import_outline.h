/* SPDX-License-Identifier: Apache-2.0
 *
 * A JSON object with one long array among its members: the object without what is in that array,
 * and the array's elements one at a time, in memory that the longest of them bounds.
 */
#ifndef GS_IMPORT_OUTLINE_H
#define GS_IMPORT_OUTLINE_H

#include "base/text.h"
#include "import/import_lines.h"

#include <jansson.h>

#define OUTLINE_MAX ((size_t)64 << 20) /* bytes of the object without its array; of an element */

struct outline_reader {
    const char *array; /* the member's key */
    void *ctx;
    /* What stands before the array, then each element, terminated and changeable; GS_OK goes on. */
    int (*head)(void *ctx, const json_t *object);
    int (*element)(void *ctx, char *s, size_t n);
};

/* Reads to the end. *out is the object with an empty array, the caller's; *whole is false when the
 * text broke off inside or behind the array: what was whole before that has been given out. GS_OK
 * or reported. */
int outline_read(struct lines *in, const struct outline_reader *r, json_t **out, bool *whole);

#endif
