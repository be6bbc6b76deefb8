/* SPDX-License-Identifier: Apache-2.0
 *
 * The types of parameters (enum wl_type), one row each.
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

/* Numeric types are compared with min and max as doubles. */
struct param_type {
    bool (*parse)(const struct wl_param *p, const char *text, void *member); /* NULL: copied */
    void (*format)(const struct wl_param *p, const void *member, char *buf, size_t n);
    double (*number)(const void *member);                    /* NULL: not numeric */
    void (*format_bound)(double bound, char *buf, size_t n); /* NULL: not numeric */
    size_t size;
    const char *what; /* "a size, e.g. 64KiB", for the message about a text that does not parse */
};
extern const struct param_type param_types[]; /* by enum wl_type */
