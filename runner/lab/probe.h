/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures whether the emulated network matches the config. The sites send UDP through the same
 * devices and links as the command. Measured for each direction of each pair: the shortest delay,
 * the rate while all sites send, and the loss of small packets. Units: bytes of IP packets, seconds.
 */
#pragma once

#include "common/rng.h"
#include "lab/spec.h"
#include "plan/plan.h"

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#define PROBE_HEADERS_B 28 /* IPv4 and UDP */

enum probe_kind { PROBE_COUNT, PROBE_BULK };

struct probe_phase {
    enum probe_kind kind;
    uint64_t start_ns, count_ns; /* counting starts at count_ns */
    uint64_t stop_ns, end_ns;    /* sending and counting stop; reading stops */
    unsigned datagram_B;         /* UDP payload */
    double *interval_ns;         /* [from * n + to] between datagrams; 0: none is sent */
};

struct probe_plan {
    struct probe_phase *phases;
    size_t n;
    uint64_t end_ns; /* end of the last phase */
};

void probe_plan_make(struct probe_plan *p, const struct lab_spec *s, uint64_t start_ns);
void probe_plan_free(struct probe_plan *p);

/* Time between two datagrams of a flow, at random: flows in step would wait for each other each time, or
 * one could lose everything in a full queue. In a BULK phase it is never longer than the link needs for a
 * datagram, which so is never idle. */
double probe_plan_wait_ns(const struct probe_phase *f, size_t flow, struct rng *r);

/* One flow in one phase. The sending site writes `sent`, the receiving one the rest. */
struct probe_seen {
    uint64_t sent, got;
    uint64_t bytes, first_ns, last_ns; /* BULK: within the counted time; CLOCK_MONOTONIC */
    uint64_t delay_ns;                 /* the shortest; all sites have the clock of this machine */
};

/* Counts a datagram of a BULK phase with `bytes` of payload, received by the kernel at at_ns. */
void probe_note_bulk(const struct probe_phase *f, struct probe_seen *s, size_t bytes,
                     uint64_t at_ns);

/* One direction between two sites; in arrays: [from * n + to]. */
struct probe_pair {
    double delay_s; /* INFINITY: nothing came */
    double Bps;     /* NaN: not measured */
    double chance;  /* relative error of Bps that random losses explain */
    uint64_t sent, lost;
};

/* Takes about two seconds for four sites. `holders`: one process in each site. GS_OK, and the caller
 * frees *pairs; or GS_CANNOT, reported. */
int probe_run(struct probe_pair **pairs, const struct lab_spec *s, const pid_t *holders);
/* What the sites received, for probe_run. */
struct probe_pair *probe_take(const struct lab_spec *s, const struct probe_plan *plan,
                              const struct probe_seen *seen);

/* GS_OK; or GS_CANNOT and the first deviation in `why`. Reports nothing. */
int probe_judge(const struct probe_pair *pairs, const struct lab_spec *s, char *why, size_t size);
/* [{from, to, delay_s, Bps, limit_Bps, sent, lost}] */
json_t *probe_json(const struct probe_pair *pairs, const struct lab_spec *s);
/* One line of text; the caller frees it. */
char *probe_text(const struct probe_pair *pairs, const struct lab_spec *s);

/* GS_OK, also outside of a lab, for a config without rates of links, and for wan_links, which finds
 * out what the links are. GS_USAGE: the first difference is reported. Rates and RTTs may differ by
 * as much as a lab itself may be off. */
int probe_same_links(const struct plan *p);
