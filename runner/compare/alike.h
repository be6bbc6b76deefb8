/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the parameters of cells, texts "key=value key=value", without some of the keys.
 */
#pragma once

/* The parameters of a config; ends with NULL. */
extern const char *const alike_config[];

/* The words of params whose key is not one of `keys`, in their order; the caller frees them. */
char *alike_without(const char *params, const char *const *keys);
