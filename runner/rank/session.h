/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of one attempt on this rank: plan, ranks, plugin, recording. measure.c creates and
 * destroys it.
 */
#pragma once

#include "lab/relay.h"
#include "rank/binding.h"
#include "rank/health.h"
#include "rank/host_api.h"
#include "rank/report.h"
#include "rank/team.h"
#include "rank/watchdog.h"

/* How to continue; the ranks agree on their worst value. */
enum course {
    GO_ON,
    STOP,   /* told to stop: close what is measured */
    BROKEN, /* the recording cannot be written, or the emulated network is late */
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
    struct gpu_binding binding;
    struct report report;
    struct lateness lateness; /* rank 0, in a lab */
    void *self;               /* state of the plugin */
    bool *missing;            /* by group: not yet measured in this launch */
    bool *given_up;           /* by cell */
    uint64_t clock_step_ns;
    uint64_t sample_ns; /* minimum duration of a sample */
    uint64_t began_ns;  /* CLOCK_MONOTONIC, first group */
};

/* Starts the deadline of a plugin call. After it abort() is called, and then the shim kills. */
void session_step(struct session *r, const char *phase);
/* Starts the deadline of a step of the runner itself, which abort() cannot end. */
void session_own_step(struct session *r, const char *phase);

/* The result of the call that just returned on this rank; after the deadline it is HANGING. After
 * WL_LOST it does not return: the process ends. */
enum call_result session_result(const struct session *r, enum wl_status status);
