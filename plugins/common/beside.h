/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of a plugin that needs libraries which the plugin itself does not: NAME/BACKEND.so
 * beside NAME.so, with one exported constant whose first member is its size.
 */
#ifndef BESIDE_H
#define BESIDE_H

#include "workload.h"

#include <stddef.h>

struct beside {
    void *library; /* dlopen's; the caller may close it */
    const void *ops;
};

/* Loads it. WL_SKIP: it is not here, or its libraries are not; WL_FAIL: another version of it is.
 * Then why[] has what and the remedy, and *b is zero. */
enum wl_status beside_open(struct beside *b, const char *backend, const char *symbol, size_t size,
                           char *why, size_t n);

#endif
