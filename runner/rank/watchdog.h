/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that calls the plugin's abort() when a step passes its deadline. Unlike a kill, abort()
 * lets the plugin release its resources. Until then the thread sleeps.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct watchdog {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*abort)(void *self);
    void *self;
    uint64_t deadline_ns; /* under lock; UINT64_MAX: none */
    bool leave;           /* under lock */
    atomic_bool fired;
};

/* False: the plugin has no abort(), or no thread can start. The other functions then do nothing, and
 * the shim kills the process. */
bool watchdog_start(struct watchdog *w, void (*abort)(void *self), void *self);
void watchdog_stop(struct watchdog *w);

/* CLOCK_MONOTONIC. Deadlines only move forward; UINT64_MAX: none. */
void watchdog_set(struct watchdog *w, uint64_t deadline_ns);
bool watchdog_fired(const struct watchdog *w);
