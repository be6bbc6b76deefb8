/* SPDX-License-Identifier: Apache-2.0
 *
 * The cells of a workload section: the product of the values of each key; and the labels of their
 * configs and modes.
 */
#pragma once

#include "config/config.h"
#include "config/params.h"
#include "workload.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- labels ---- */

/* Names of configs and modes: the WL_CONFIG and WL_MODE values of a cell as text, and back.
 *
 * The label of a config consists of its WL_CONFIG values that differ from the default, joined by
 * "/". A choice that no other WL_CONFIG parameter has stands alone ("ring/LL128"), as does the
 * value of a parameter named `config`; other values have their key ("ctas=8"). If all values are
 * defaults, the label is the default of the first WL_CONFIG parameter (e.g. "auto",
 * "bucket_cap=25"), or "default" for a plugin without such parameters.
 * sweep_label_parse(sweep_label_config(cell)) gives the same values. */

/* `defaults` is a cell struct that params_default() filled. The caller frees the result. */
char *sweep_label_config(const struct wl_plugin *wl, const void *defaults, const void *cell);
char *sweep_label_mode(const struct wl_plugin *wl, const void *cell); /* "" without WL_MODE */

/* Sets the WL_CONFIG members of `cell` from a label, whose parts may have any order. Other members
 * get their defaults. False: `why` says what is wrong and what is allowed. */
bool sweep_label_parse(const struct wl_plugin *wl, const void *defaults, const char *label,
                       void *cell, char *why, size_t n);

/* ---- the values of a key ---- */

/* Reads the lists and ranges of a workload section: the value of a key as the values of a parameter.
 *   a, b, c          8:128MiB:x2   (8, 16, 32 …)          1:9:+2   (1, 3, 5, 7, 9)
 * A range is for a numeric parameter and includes both ends. Ranges and values may be mixed. */

#define SWEEP_MAX 100000 /* cells of one section */

/* One parameter. Axes of one dimension advance together and have equal lengths. */
struct sweep_axis {
    const struct wl_param *p;
    const struct config_entry *from; /* NULL: the default */
    unsigned char *values;           /* n members of param_size(p) bytes */
    size_t n;
    size_t dim;
};

/* ---- the sweep ---- */

struct sweep {
    const struct wl_plugin *wl;
    void *defaults;          /* a cell struct */
    struct sweep_axis *axes; /* one per parameter, in table order */
    size_t n_axes;
    /* Of each dimension. Dimensions are numbered as axes; an unused one has length 1. */
    size_t *lengths, *strides;
};

/* GS_OK or GS_USAGE, every fault reported: unknown key, invalid value, empty sweep and others. Call sweep_free() in both cases. */
int sweep_read(struct sweep *s, const struct config *c, const char *section,
               const struct wl_plugin *wl);
void sweep_free(struct sweep *s);

/* The size of the product, and its i-th cell; the last parameter of the table varies fastest. */
size_t sweep_count(const struct sweep *s);
void sweep_cell(const struct sweep *s, size_t i, void *cell);
