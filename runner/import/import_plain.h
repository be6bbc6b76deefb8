/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of a long array in a JSON text, taken out of it before a parser makes an object of
 * each.
 */
#ifndef GS_IMPORT_PLAIN_H
#define GS_IMPORT_PLAIN_H

#include <stddef.h>
#include <stdint.h>

struct plain {
    uint64_t *v;
    size_t n, cap;
};

/* Of "KEY": {… "ARRAY": [ … ]}: each times 10^shift, rounded, and the array is left empty. An array
 * that holds anything but positive numbers, or that stands elsewhere, stays in the text, and n is
 * 0. */
void plain_take(struct plain *t, char *text, const char *key, const char *array, int shift);
void plain_free(struct plain *t);

#endif
