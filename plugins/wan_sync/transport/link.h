/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface of a transport: it moves blocks between peers without blocking. (peer, id) names a
 * block; blocks may arrive in any order. A transport reads whatever arrives, at once: the engine
 * (strategy.h) bounds how much a peer may send. Every function that can fail returns -1 and writes
 * one line to why[].
 *
 * The words of this folder:
 *   peer    another rank
 *   link    all that joins a rank to its peers
 *   stream  a TCP connection between two ranks; a link has several to each peer
 *   guest   a connection that came to this rank and has not shown the cookie
 *   pool    the links of a process (pool.h)
 *
 * The transport is tcp (tcp.h); the tests have another one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes the line, and is -1. */
#define LINK_WHY(why, size, ...) (snprintf(why, size, __VA_ARGS__), -1)

#define LINK_ID_BITS 30 /* of an id */

enum link_done { LINK_SENT, LINK_RECEIVED };

struct link_event {
    enum link_done done;
    int peer;
    uint32_t id;
    void *data; /* RECEIVED: the block; the caller frees it */
    size_t bytes;
};

struct link;

struct link_ops {
    const char *name;
    /* `data` belongs to the link until its LINK_SENT. May write at once. */
    int (*send)(struct link *, int peer, uint32_t id, const void *data, size_t bytes);
    /* Returns 1 with the next finished block, 0 if there is none within timeout_s, or -1. Reads
     * what has come, and writes what send() left. */
    int (*next)(struct link *, struct link_event *, double timeout_s);
    /* Call it outside of timed code before a rank stops calling next() for long. Drives the link
     * until the kernel has all that was sent. 0 or -1. */
    int (*settle)(struct link *, double timeout_s);
    /* May be called from another thread: makes next() return -1 soon. */
    void (*abort)(struct link *);
    void (*close)(struct link *);
};

struct link {
    const struct link_ops *ops;
    char why[256];
};
