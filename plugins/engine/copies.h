/* SPDX-License-Identifier: Apache-2.0
 *
 * Private copies of a shared library. A library that is opened from another file has variables of its own, so
 * each copy reads its environment anew. The file has no name: it is gone with the last process that has it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define COPIES_MAX 32

struct copy_environment {
    char *const *set;     /* "NAME=VALUE" */
    char *const *without; /* "NAME" */
    size_t n_set, n_without;
};

/* Opens copy number `i` (< COPIES_MAX) of the library at `path`, whose file is made where there is room and programs may be run
 * from. shared: where another process of this host has the file ("/proc/..."), or
 * "": it is made, and `shared` then says where. NULL: `why`. Once a number, and not by two threads at a time. The
 * environment must stay. */
void *copy_open(size_t i, const char *path, const struct copy_environment *environment,
                char *shared, size_t n_shared, char *why, size_t n);
