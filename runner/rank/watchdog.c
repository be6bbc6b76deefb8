/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/watchdog.h"

#include "base/clock.h"

#include <signal.h>
#include <time.h>

static struct timespec at(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
}

/* Sleeps until the deadline it saw last, and then reads the current one. So setting a deadline need
 * not wake this thread. */
static void *watch(void *arg)
{
    struct watchdog *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->leave) {
        if (w->deadline_ns == UINT64_MAX) {
            pthread_cond_wait(&w->changed, &w->lock);
        } else if (clock_now_ns() < w->deadline_ns) {
            struct timespec until = at(w->deadline_ns);
            pthread_cond_timedwait(&w->changed, &w->lock, &until);
        } else {
            w->deadline_ns = UINT64_MAX;
            atomic_store(&w->fired, true);
            w->abort(w->self);
        }
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* The main thread handles signals. */
static bool start_thread(struct watchdog *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool started = !pthread_create(&w->thread, NULL, watch, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

bool watchdog_start(struct watchdog *w, void (*abort)(void *self), void *self)
{
    *w = (struct watchdog){.abort = abort, .self = self, .deadline_ns = UINT64_MAX};
    if (!abort)
        return false;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!start_thread(w))
        w->abort = NULL;
    return w->abort;
}

void watchdog_stop(struct watchdog *w)
{
    if (!w->abort)
        return;
    pthread_mutex_lock(&w->lock);
    w->leave = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    w->abort = NULL;
}

void watchdog_set(struct watchdog *w, uint64_t deadline_ns)
{
    if (!w->abort)
        return;
    pthread_mutex_lock(&w->lock);
    bool idle = w->deadline_ns == UINT64_MAX;
    w->deadline_ns = deadline_ns;
    if (idle)
        pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

bool watchdog_fired(const struct watchdog *w)
{
    return atomic_load(&w->fired);
}
