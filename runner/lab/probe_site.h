/* SPDX-License-Identifier: Apache-2.0
 *
 * One site's part in a probe: sends and answers as the plan says, and notes what came.
 */
#ifndef GS_LAB_PROBE_SITE_H
#define GS_LAB_PROBE_SITE_H

#include "lab/probe_plan.h"

/* Of one flow in one phase; written by the site that receives, RTTs by the one that asked. */
struct probe_seen {
    uint64_t sent, got;
    uint64_t bytes, first_ns, last_ns; /* BULK: what counts; CLOCK_MONOTONIC */
    uint64_t rtt_ns;                   /* 0: no answer */
};

/* A datagram of a BULK phase, with `bytes` of payload, that its receiver's kernel had at at_ns. */
void probe_note_bulk(const struct probe_phase *f, struct probe_seen *s, size_t bytes,
                     uint64_t at_ns);

/* In a process of its own in site `me`; `seen` [phase][from * n + to] is shared with the others'.
 * Until the plan's end. GS_OK or GS_CANNOT, reported. */
int probe_site_play(const struct probe_plan *p, const struct lab_spec *s, size_t me,
                    struct probe_seen *seen);

#endif
