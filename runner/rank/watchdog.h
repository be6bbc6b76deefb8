/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that calls the plugin's abort() when a step takes past its deadline: a way out that
 * releases what a kill would leave to the system. Nothing runs, and nothing is woken, before then.
 */
#ifndef GS_WATCHDOG_H
#define GS_WATCHDOG_H

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

/* False: there is no abort to call, or no thread to call it from; the other functions then do
 * nothing and the shim's kill is the only way out. */
bool watchdog_start(struct watchdog *w, void (*abort)(void *self), void *self);
void watchdog_stop(struct watchdog *w);

/* CLOCK_MONOTONIC; deadlines only move forward, UINT64_MAX is none. */
void watchdog_set(struct watchdog *w, uint64_t deadline_ns);
bool watchdog_fired(const struct watchdog *w);

#endif
