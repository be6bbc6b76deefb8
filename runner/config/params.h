/* SPDX-License-Identifier: Apache-2.0
 *
 * The types of parameters (enum wl_type), and their values.
 */
#pragma once

#include "workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value of any type, outside of a cell struct. */
union member {
    int64_t i;
    uint64_t u;
    double d;
    int c;
    bool b;
    char text[WL_TEXT_MAX];
};

/* Values by table: a struct wl_param table says how text becomes the members of a struct and back.
 * Plugins' parameters and the runner's own settings go through the same parser. */

/* Parses `text` into the member of `object` that p describes. False: `why` says what is wrong and
 * what is allowed, without key or place, e.g. "'rign' is not a choice (auto, ring; did you mean
 * 'ring'?)". */
bool param_parse(const struct wl_param *p, const char *text, void *object, char *why, size_t n);

/* Canonical text of the member: parses back to the same value, and is what ids are hashed from. */
const char *param_format(const struct wl_param *p, const void *object, char *buf, size_t n);

/* Does the member have its default? */
bool param_is_default(const struct wl_param *p, const void *object);

/* All members from the defaults. False (and `why`, naming the parameter) if a default is refused.
 */
bool params_default(const struct wl_param *table, void *object, char *why, size_t n);

/* The same for a text member of `size` bytes; p->max, if not 0, is the longest text. */
bool param_parse_text(const struct wl_param *p, const char *text, char *dst, size_t size, char *why,
                      size_t n);

bool param_numeric(const struct wl_param *p); /* ranges make sense, min and max hold */
size_t param_size(const struct wl_param *p);  /* bytes of the member */
size_t params_choices(const struct wl_param *p);

size_t params_count(const struct wl_param *table);
const struct wl_param *params_find(const struct wl_param *table, const char *name);
const char *params_nearest(const struct wl_param *table, const char *name); /* or NULL */

/* The range, choices or form that is allowed: "0.001..0.5", "auto, ring, tree", "a size, e.g.
 * 64KiB". */
const char *param_allowed(const struct wl_param *p, char *buf, size_t n);

/* The key that every workload section has beside its plugin's parameters. No parameter may have this
 * name. */
#define SWEEP_CONFIGS "configs"
