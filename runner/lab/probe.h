/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures whether the emulated network matches the config. The sites send UDP through the same
 * devices and links as the command. Measured: the shortest RTT of each pair, each site's send and
 * receive rate while all sites send, and the loss of small packets. Units: bytes of IP packets,
 * seconds.
 */
#pragma once

#include "lab/probe_site.h"

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#define PROBE_RATE_BY 0.03 /* a larger relative error of a rate fails the probe */
#define PROBE_RTT_BY 0.05
#define PROBE_RTT_PLUS_S 200e-6

struct probe_rate {
    double limit_Bps; /* what the links allow in this measurement; 0: not measured */
    double Bps;
    double chance; /* relative error of Bps that random losses and flow ends explain */
};

struct probe_pair {
    double rtt_s; /* INFINITY: no answer */
    uint64_t sent, lost;
};

struct probe {
    size_t n;
    struct probe_rate *up, *down; /* by site */
    struct probe_pair *pairs;     /* [from * n + to] */
};

/* Takes about two seconds. `holders`: one process in each site. GS_OK or GS_CANNOT, reported; call
 * probe_free in both cases. */
int probe_run(struct probe *p, const struct lab_spec *s, const pid_t *holders);
void probe_free(struct probe *p);

/* The parts of probe_run: make an empty probe; add what the sites received (probe_site.h). */
void probe_make(struct probe *p, size_t sites);
void probe_take(struct probe *p, const struct lab_spec *s, const struct probe_plan *plan,
                const struct probe_seen *seen);

/* GS_OK; or GS_CANNOT and the largest deviation in `why`. Reports nothing. */
int probe_judge(const struct probe *p, const struct lab_spec *s, char *why, size_t size);
/* {sites [{name, up_Bps, up_limit_Bps, down_Bps, down_limit_Bps}], pairs [{from, to, rtt_s, sent,
 * lost}]} */
json_t *probe_json(const struct probe *p, const struct lab_spec *s);
/* One line of text; the caller frees it. */
char *probe_text(const struct probe *p, const struct lab_spec *s);
