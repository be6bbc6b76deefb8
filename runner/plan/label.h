/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of configs and modes: the WL_CONFIG and WL_MODE values of a cell as text, and back.
 *
 * The label of a config consists of its WL_CONFIG values that differ from the default, joined by
 * "/". A choice that no other WL_CONFIG parameter has stands alone ("ring/LL128"), as does the
 * value of a parameter named `config`; other values have their key ("ctas=8"). If all values are
 * defaults, the label is the default of the first WL_CONFIG parameter (e.g. "auto",
 * "bucket_cap=25"), or "default" for a plugin without such parameters.
 * label_parse(label_config(cell)) gives the same values.
 */
#pragma once

#include "workload.h"

#include <stdbool.h>
#include <stddef.h>

/* `defaults` is a cell struct that params_default() filled. The caller frees the result. */
char *label_config(const struct wl_plugin *wl, const void *defaults, const void *cell);
char *label_mode(const struct wl_plugin *wl, const void *cell); /* "" without WL_MODE */

/* Sets the WL_CONFIG members of `cell` from a label, whose parts may have any order. Other members
 * get their defaults. False: `why` says what is wrong and what is allowed. */
bool label_parse(const struct wl_plugin *wl, const void *defaults, const char *label, void *cell,
                 char *why, size_t n);
