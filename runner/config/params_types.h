/* SPDX-License-Identifier: Apache-2.0
 *
 * What a parameter may be, a row a type of workload.h.
 */
#pragma once

#include "workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value of any of them, standing alone. */
union member {
    int64_t i;
    uint64_t u;
    double d;
    int c;
    bool b;
    char text[WL_TEXT_MAX];
};

/* How its text is read and written, and what it is called. Numeric types are compared with min and
 * max as doubles. */
struct param_type {
    bool (*parse)(const struct wl_param *p, const char *text, void *member); /* NULL: copied */
    void (*format)(const struct wl_param *p, const void *member, char *buf, size_t n);
    double (*number)(const void *member);                    /* NULL: not numeric */
    void (*format_bound)(double bound, char *buf, size_t n); /* NULL: not numeric */
    size_t size;
    const char *what; /* what a text that does not parse is not */
};
extern const struct param_type param_types[]; /* by enum wl_type */
