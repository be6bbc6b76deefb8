/* SPDX-License-Identifier: Apache-2.0
 *
 * Does the lab do what it promises? Measured from inside the sites with UDP, through the same
 * devices and lines that the command will use: the RTT of each pair (the shortest of some), what
 * each site can send and receive while all others do too, and how many of many small packets
 * arrive. Units: bytes of IP packets, seconds.
 */
#ifndef GS_LAB_PROBE_H
#define GS_LAB_PROBE_H

#include "lab/probe_site.h"

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#define PROBE_RATE_BY 0.03 /* further from its rate, and a lab is refused */
#define PROBE_RTT_BY 0.05
#define PROBE_RTT_PLUS_S 200e-6

struct probe_rate {
    double limit_Bps; /* what the lines let through in this measurement; 0: was not measured */
    double Bps;
    double chance; /* a share of the limit by which losses and ends of flows may move Bps */
};

struct probe_pair {
    double rtt_s; /* INFINITY: no answer came */
    uint64_t sent, lost;
};

struct probe {
    size_t n;
    struct probe_rate *up, *down; /* one a site */
    struct probe_pair *pairs;     /* [from * n + to] */
};

/* Takes about two seconds. `holders`: a process in each site. GS_OK or GS_CANNOT, reported;
 * probe_free in both cases. */
int probe_run(struct probe *p, const struct lab_spec *s, const pid_t *holders);
void probe_free(struct probe *p);

/* What probe_run is made of: nothing is known yet; then what the sites have seen, see probe_site.h.
 */
void probe_make(struct probe *p, size_t sites);
void probe_take(struct probe *p, const struct lab_spec *s, const struct probe_plan *plan,
                const struct probe_seen *seen);

/* GS_OK; or GS_CANNOT, and `why` says what is furthest off. Reports nothing. */
int probe_judge(const struct probe *p, const struct lab_spec *s, char *why, size_t size);
/* {sites [{name, up_Bps, up_limit_Bps, down_Bps, down_limit_Bps}], pairs [{from, to, rtt_s, sent,
 * lost}]} */
json_t *probe_json(const struct probe *p, const struct lab_spec *s);
/* One line for people. */
char *probe_text(const struct probe *p, const struct lab_spec *s);

#endif
