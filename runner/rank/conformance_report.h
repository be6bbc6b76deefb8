/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rank says of a plugin on trial, in the lines of conformance.h, to its last moment.
 */
#ifndef GS_CONFORMANCE_REPORT_H
#define GS_CONFORMANCE_REPORT_H

#include "plugin/plugin.h"

struct conformance {
    const struct wl_host *runner; /* MPI's */
    struct wl_host host;          /* what the plugin sees */
    struct plugin *plugin;
    const struct wl_plugin *wl;
    struct wl_job job;
    int out, faults;
    void *self;
    char at[256];   /* the call that is being made */
    char why[512];  /* of the plugin's last fail() */
    char cell[160]; /* the cell under test, for the report; "" outside one */
};

void conformance_put(const struct conformance *c, const char *kind,
                     const char *text); /* one line */
void conformance_note(struct conformance *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void conformance_fault(struct conformance *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void conformance_enter(struct conformance *c,
                       const char *call); /* where we go, before we go there */
void conformance_catch_crashes(
    const struct conformance *c); /* a signal is a fault of the call we are in */

#endif
