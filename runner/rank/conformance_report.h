/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a plugin under test, and its report in the lines of launch/dry_run.h. A crash is
 * reported too.
 */
#pragma once

#include "plugin/plugin.h"

struct conformance {
    const struct wl_host *runner; /* the runner's functions over MPI */
    struct wl_host host;          /* passed to the plugin */
    struct plugin *plugin;
    const struct wl_plugin *wl;
    struct wl_job job;
    int out, faults;
    void *self;
    char at[256];   /* the current call */
    char why[512];  /* text of the plugin's last fail() */
    char cell[160]; /* the cell under test; "": none */
};

/* Writes one report line. */
void conformance_put(const struct conformance *c, const char *kind, const char *text);
void conformance_note(struct conformance *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void conformance_fault(struct conformance *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Announces a call before it is made. */
void conformance_enter(struct conformance *c, const char *call);
/* From now on a crash is reported as a fault of the current call. */
void conformance_catch_crashes(const struct conformance *c);
