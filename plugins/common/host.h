/* SPDX-License-Identifier: Apache-2.0
 *
 * What plugins and their backends say to the runner's host: faults, `return HOST_FAILED(host, "…")`, and
 * statuses on which all ranks agree. And how a plugin loads its backend, the part that needs more
 * libraries than the plugin itself.
 */
#pragma once

#include "workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define HOST_FAIL(host, ...) (host)->fail((host)->ctx, __VA_ARGS__)
#define HOST_FAILED(host, ...) (HOST_FAIL(host, __VA_ARGS__), WL_FAIL)
/* For a caller that reports: writes why[n], and gives the result. */
#define HOST_WHY(result, why, n, ...) (snprintf(why, n, __VA_ARGS__), (result))

/* The next step, if all before it went well: status = call. Also of codes of a library whose success is
 * 0, as is WL_OK. */
#define TRY(status, call)                                                                          \
    do {                                                                                           \
        if (!(status))                                                                             \
            (status) = (call);                                                                     \
    } while (0)

/* In a function that returns a status: returns that of the call unless it is WL_OK. */
#define CHECK(call)                                                                                \
    do {                                                                                           \
        const enum wl_status check_status = (call);                                                \
        if (check_status != WL_OK)                                                                 \
            return check_status;                                                                   \
    } while (0)

/* Ranks agree before a collective step: each gives its own status, all return the worst one and all
 * report its reason. `why`: the reason of this rank, when its status is not WL_OK; NULL: it has told
 * it. Collective. */
enum wl_status host_agree(const struct wl_host *host, enum wl_status status, const char *why);

/* NAME/BACKEND.so beside NAME.so. It exports one constant, whose first member is its size. */
struct host_backend {
    void *library; /* dlopen's; the caller may close it */
    const void *ops;
};

/* Loads the backend. WL_SKIP: the backend or one of its libraries is missing. WL_FAIL: it has
 * another version. Then why[] gets the cause and the remedy, and *b is zero. */
enum wl_status host_backend(struct host_backend *b, const char *backend, const char *symbol,
                            size_t size, char *why, size_t n);
