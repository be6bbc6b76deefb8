/* SPDX-License-Identifier: Apache-2.0
 *
 * One site's part in a probe: sends and answers by the plan, and counts what it receives.
 */
#pragma once

#include "lab/probe_plan.h"

/* One flow in one phase. The receiving site writes it; the pinging site writes RTTs. */
struct probe_seen {
    uint64_t sent, got;
    uint64_t bytes, first_ns, last_ns; /* BULK: within the counted time; CLOCK_MONOTONIC */
    uint64_t rtt_ns;                   /* 0: no answer */
};

/* Counts a datagram of a BULK phase with `bytes` of payload, received by the kernel at at_ns. */
void probe_note_bulk(const struct probe_phase *f, struct probe_seen *s, size_t bytes,
                     uint64_t at_ns);

/* Runs until the end of the plan, in a separate process in site `me`. All sites share `seen`
 * [phase][from * n + to]. GS_OK or GS_CANNOT, reported. */
int probe_site_play(const struct probe_plan *p, const struct lab_spec *s, size_t me,
                    struct probe_seen *seen);
