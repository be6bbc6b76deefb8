/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads the backend of a plugin: the part that needs more libraries than the plugin itself.
 *
 * The backend is NAME/BACKEND.so beside NAME.so. It exports one constant, whose first member is its
 * size.
 */
#pragma once

#include "workload.h"

#include <stddef.h>

struct beside {
    void *library; /* dlopen's; the caller may close it */
    const void *ops;
};

/* Loads the backend. WL_SKIP: the backend or one of its libraries is missing. WL_FAIL: it has
 * another version. Then why[] gets the cause and the remedy, and *b is zero. */
enum wl_status beside_open(struct beside *b, const char *backend, const char *symbol, size_t size,
                           char *why, size_t n);
