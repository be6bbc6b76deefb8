/* SPDX-License-Identifier: Apache-2.0
 *
 * What plugins and their backends say to the runner's host: faults, `return HOST_FAILED(host, "…")`, and
 * statuses on which all ranks agree.
 */
#pragma once

#include "workload.h"

#define HOST_FAIL(host, ...) (host)->fail((host)->ctx, __VA_ARGS__)
#define HOST_FAILED(host, ...) (HOST_FAIL(host, __VA_ARGS__), WL_FAIL)

/* The next step, if all before it went well: status = call. */
#define TRY(status, call)                                                                          \
    do {                                                                                           \
        if ((status) == WL_OK)                                                                     \
            (status) = (call);                                                                     \
    } while (0)

/* Ranks agree before a collective step: each gives its own status, all return the worst one and all
 * report its reason. `why`: the reason of this rank, when its status is not WL_OK. Collective. */
enum wl_status host_agree(const struct wl_host *host, enum wl_status status, const char *why);
/* The same after a call that has told its own failures: the other ranks report "rank N: WHAT failed". */
enum wl_status host_agree_told(const struct wl_host *host, enum wl_status status, const char *what);
