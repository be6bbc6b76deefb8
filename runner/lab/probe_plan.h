/* SPDX-License-Identifier: Apache-2.0
 *
 * What a probe sends when: phases with times of one clock, so that the sites need not speak to each
 * other about it and none waits for another.
 */
#ifndef GS_LAB_PROBE_PLAN_H
#define GS_LAB_PROBE_PLAN_H

#include "common/rng.h"
#include "lab/spec.h"

#include <stdint.h>

#define PROBE_HEADERS_B 28 /* IPv4 and UDP */

enum probe_kind { PROBE_PING, PROBE_COUNT, PROBE_BULK };

struct probe_phase {
    enum probe_kind kind;
    uint64_t start_ns, count_ns; /* counted from */
    uint64_t stop_ns, end_ns;    /* sent and counted until; read until */
    unsigned datagram_B;         /* payload of UDP */
    double *interval_ns;         /* [from * n + to] between datagrams; 0: none is sent */
    double *limit_Bps;           /* BULK: what the flow is let through, at least; 0: none */
};

struct probe_plan {
    struct probe_phase *phases;
    size_t n;
    uint64_t end_ns; /* of the last */
};

void probe_plan_make(struct probe_plan *p, const struct lab_spec *s, uint64_t start_ns);
void probe_plan_free(struct probe_plan *p);

/* What the pings that meet on the slowest line of one way take there, at most. */
double probe_plan_pings_s(const struct lab_spec *s, size_t from, size_t to);

/* From one datagram of a flow to the next. BULK is uneven: of flows at even paces that meet in a
 * full queue one may lose all, another nothing. */
double probe_plan_wait_ns(const struct probe_phase *f, size_t flow, struct rng *r);

/* What site i sends in all, or receives, in a phase, at most: its flows, or its own end. */
double probe_plan_up_Bps(const struct probe_phase *f, const struct lab_spec *s, size_t i);
double probe_plan_down_Bps(const struct probe_phase *f, const struct lab_spec *s, size_t i);

#endif
