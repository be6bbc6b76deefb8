/* SPDX-License-Identifier: Apache-2.0
 *
 * What plugins and their backends say to the runner's host: faults, `return HOST_FAILED(host, "…")`, and
 * statuses on which all ranks agree. And how a plugin loads its backend, the part that needs more
 * libraries than the plugin itself. And a list of what several cells use.
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

/* ---- shared things ---- */

/* What several cells use at the same time, such as the operands of their GEMMs or memory of a GPU: a
 * list of things. Each thing counts its users. It is a struct whose first member is a struct shared. */
struct shared {
    struct shared *next;
    int users;
};

/* The thing that fits, with one user more; NULL: there is none. */
static inline void *host_shared_take(struct shared *list,
                                     bool (*fits)(const void *thing, const void *want),
                                     const void *want)
{
    while (list && !fits(list, want))
        list = list->next;
    if (list)
        list->users++;
    return list;
}

/* Adds a thing, which gets its first user. */
static inline void host_shared_add(struct shared **list, void *thing)
{
    struct shared *s = thing;
    s->next = *list;
    s->users = 1;
    *list = s;
}

/* Takes a thing without users out of the list, or any: the caller frees it. NULL: there is none. */
static inline void *host_shared_out(struct shared **list, bool any)
{
    while (*list && (*list)->users && !any)
        list = &(*list)->next;
    struct shared *s = *list;
    if (s)
        *list = s->next;
    return s;
}

/* One user less. True: it was the last one, and the thing is out of the list: the caller frees it. thing
 * NULL: false. */
static inline bool host_shared_drop(struct shared **list, void *thing)
{
    struct shared *s = thing;
    if (!s || --s->users)
        return false;
    while (*list != s)
        list = &(*list)->next;
    *list = s->next;
    return true;
}
