/* SPDX-License-Identifier: Apache-2.0
 *
 * What one attempt measures with: the plan, the ranks, the plugin, the recording. Built up and
 * taken down by measure.c, used by all that happens in between.
 */
#ifndef GS_SESSION_H
#define GS_SESSION_H

#include "lab/lateness.h"
#include "rank/binding.h"
#include "rank/health.h"
#include "rank/host_api.h"
#include "rank/report.h"
#include "rank/team.h"
#include "rank/watchdog.h"

/* How to go on. Ranks agree on the worst of theirs. */
enum course {
    GO_ON,
    STOP,   /* asked to: what is measured so far is closed and kept */
    BROKEN, /* the recording cannot be written, or the lab does not keep its times */
    HUNG    /* the plugin had to be aborted */
};

/* What a plugin's call came to, by gravity. */
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
    struct lateness kept; /* rank 0, in a lab */
    void *self;       /* the plugin's */
    bool *missing;    /* by group: this launch lacks it */
    bool *given_up;   /* by cell */
    uint64_t clock_step_ns;
    uint64_t sample_ns; /* a sample lasts at least so long */
    uint64_t began_ns;  /* CLOCK_MONOTONIC, first group */
};

/* The plugin's next call has `deadline` seconds: past it abort() is called, then the shim kills. */
void session_step(struct session *r, const char *phase);
/* No plugin call is under way; the runner's own steps have the same deadline, with nothing to
 * abort. */
void session_own_step(struct session *r, const char *phase);

/* The status of the call that just returned on this rank; a late one is HANGING whatever it says.
 */
enum call_result session_result(const struct session *r, enum wl_status status);

#endif
