/* SPDX-License-Identifier: Apache-2.0
 *
 * Which parameters differ among the rows of a table, beside size, config and mode: the keys of
 * `params` ("gemms" in "size=16MiB gemms=4") with more than one value.
 */
#pragma once

#include <stddef.h>

#define AXES 16

struct axes_keys {
    char v[AXES][32];
    size_t n;
};
struct axes { /* {0}: empty */
    struct axes_keys differ, of_config;
};

/* What a label names belongs to the config: the keys in "ctas=8/checksum=yes", and for "ring" the key
 * that has this value in the params of its row. All labels come before axes_add. */
void axes_config(struct axes *a, const char *label, const char *params);
/* Adds the keys in which a row differs from the first row. */
void axes_add(struct axes *a, const char *first, const char *params);
/* The mode and the values of the axes, "overlapped gemms=4"; "-" if there are none. The caller frees
 * it. */
char *axes_where(const struct axes *a, const char *mode, const char *params);
