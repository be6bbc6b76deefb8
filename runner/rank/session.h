/* SPDX-License-Identifier: Apache-2.0
 *
 * What one attempt has on one rank: the plan, the plugin and its host functions, and the
 * deadline of the current call.
 */
#pragma once

#include "lab/relay.h"
#include "rank/health.h"
#include "rank/team.h"
#include "record/record.h"
#include "workload.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- struct wl_host, over MPI ---- */

/* The host functions for a plugin (struct wl_host), over MPI, and where its messages go. */

struct host_api {
    struct wl_host wl; /* its ctx is this struct, which must not move */
    const struct team *team;
    struct record_attempt *recording; /* receives the notes; NULL: they are dropped */
    const char *cell;                 /* subject of the notes; "": the process */
    int copy;
    char why[256]; /* text of the last fail(); "": none */
};

/* Whose notes and failures follow. */
void host_api_at(struct host_api *l, const char *cell, int copy);
void host_api_begin(struct host_api *l, const struct team *team, struct record_attempt *recording,
                    uint64_t seed);

/* ---- the deadline of a call ---- */

/* A thread that calls the plugin's abort() when a step passes its deadline. Unlike a kill, abort()
 * lets the plugin release its resources. Until then the thread sleeps. */

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

/* ---- the session ---- */

/* How to continue; the ranks agree on their worst value. */
enum course {
    GO_ON,
    STOP,   /* told to stop: close what is measured */
    BROKEN, /* the recording cannot be written */
    HUNG    /* the plugin had to be aborted */
};

/* The result of a plugin call, from best to worst. */
enum call_result { FINE, AGAIN, SKIPPED, FAILED, HANGING };

struct session {
    const char *dir;
    int launch, attempt;
    struct beat *beat;
    struct plan *plan;
    const struct wl_plugin *wl;
    struct team team;
    struct host_api api;
    struct watchdog watchdog;
    struct health health;
    json_t *bound; /* bind_to_gpu */
    struct record_attempt recording;
    struct lateness lateness; /* rank 0, in a lab */
    void *self;               /* state of the plugin */
    bool *missing;            /* by group: not yet measured in this launch */
    bool *given_up;           /* by cell */
    uint64_t clock_step_ns;
    uint64_t sample_ns; /* minimum duration of a sample */
};

/* Starts the deadline of a plugin call. After it abort() is called, and then the shim kills. */
void session_step(struct session *r, const char *phase);
/* Starts the deadline of a step of the runner itself, which abort() cannot end. */
void session_own_step(struct session *r, const char *phase);

/* The result of the call that just returned on this rank; after the deadline it is HANGING. After
 * WL_LOST it does not return: the process ends. */
enum call_result session_result(const struct session *r, enum wl_status status);
