/* SPDX-License-Identifier: Apache-2.0
 *
 * The schedule of a probe: phases at fixed times of one clock. The sites need no messages to
 * coordinate, and none waits for another.
 */
#pragma once

#include "common/rng.h"
#include "lab/spec.h"

#include <stdint.h>

#define PROBE_HEADERS_B 28 /* IPv4 and UDP */

enum probe_kind { PROBE_PING, PROBE_COUNT, PROBE_BULK };

struct probe_phase {
    enum probe_kind kind;
    uint64_t start_ns, count_ns; /* counting starts at count_ns */
    uint64_t stop_ns, end_ns;    /* sending and counting stop; reading stops */
    unsigned datagram_B;         /* UDP payload */
    double *interval_ns;         /* [from * n + to] between datagrams; 0: none is sent */
    double *limit_Bps;           /* BULK: lower bound of the rate of the flow; 0: none */
};

struct probe_plan {
    struct probe_phase *phases;
    size_t n;
    uint64_t end_ns; /* end of the last phase */
};

void probe_plan_make(struct probe_plan *p, const struct lab_spec *s, uint64_t start_ns);
void probe_plan_free(struct probe_plan *p);

/* Upper bound of the delay that simultaneous pings add on the slowest link of one direction. */
double probe_plan_pings_s(const struct lab_spec *s, size_t from, size_t to);

/* Time between two datagrams of a flow. BULK uses random times: with evenly paced flows in a full
 * queue, one flow could lose everything and another nothing. */
double probe_plan_wait_ns(const struct probe_phase *f, size_t flow, struct rng *r);

/* Upper bound of what site i sends, or receives, in a phase: its flows, or its own link. */
double probe_plan_up_Bps(const struct probe_phase *f, const struct lab_spec *s, size_t i);
double probe_plan_down_Bps(const struct probe_phase *f, const struct lab_spec *s, size_t i);
