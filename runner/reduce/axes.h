/* SPDX-License-Identifier: Apache-2.0
 *
 * What tells the rows of a table apart beside size, config and mode: the keys of `params`
 * ("gemms" of "size=16MiB gemms=4") whose values differ among the rows.
 */
#ifndef GS_VERDICT_AXES_H
#define GS_VERDICT_AXES_H

#include <stddef.h>

#define AXES 16

struct axes { /* {0}: none yet */
    char key[AXES][32];
    size_t n;
};

/* Adds those in which a row differs from the first. */
void axes_add(struct axes *a, const char *first, const char *params);
/* The mode, and the values of the axes: "overlapped gemms=4"; "-" for nothing. To be freed. */
char *axes_where(const struct axes *a, const char *mode, const char *params);

#endif
