/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells that are alike in all but some parameters, as the texts "key=value key=value" say.
 */
#ifndef GS_ALIKE_H
#define GS_ALIKE_H

/* The parameters that make a config; ends with NULL. */
extern const char *const alike_config[];

/* The words of params whose key is not one of `keys`, in their order; the caller's. */
char *alike_without(const char *params, const char *const *keys);

#endif
