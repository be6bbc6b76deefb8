/* SPDX-License-Identifier: Apache-2.0
 *
 * What several cells use at the same time, such as the operands of their GEMMs or memory of a GPU: a
 * list of things. Each thing counts its users. It is a struct whose first member is a struct shared.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct shared {
    struct shared *next;
    int users;
};

/* The thing that fits, with one user more; NULL: there is none. */
static inline void *shared_take(struct shared *list,
                                bool (*fits)(const void *thing, const void *want), const void *want)
{
    while (list && !fits(list, want))
        list = list->next;
    if (list)
        list->users++;
    return list;
}

/* Adds a thing, which gets its first user. */
static inline void shared_add(struct shared **list, void *thing)
{
    struct shared *s = thing;
    s->next = *list;
    s->users = 1;
    *list = s;
}

/* Takes a thing without users out of the list, or any: the caller frees it. NULL: there is none. */
static inline void *shared_out(struct shared **list, bool any)
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
static inline bool shared_drop(struct shared **list, void *thing)
{
    struct shared *s = thing;
    if (!s || --s->users)
        return false;
    while (*list != s)
        list = &(*list)->next;
    *list = s->next;
    return true;
}
