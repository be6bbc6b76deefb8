/* SPDX-License-Identifier: Apache-2.0
 *
 * The model of gradient synchronisation over a WAN. Pure functions; SI units: bytes, bytes/s,
 * seconds.
 *
 * S sites, D bytes of gradient on each, B a site's uplink, L a one-way delay, c = D / S.
 * Sources: ring bound, Patarasuk and Yuan 2009; recursive halving and doubling, Rabenseifner 2004,
 * Thakur et al. 2005; Reno throughput, Mathis et al. 1997; CUBIC, Ha et al. 2008 and RFC 8312;
 * synchronising every H steps, Douillard et al. 2023 (DiLoCo) and 2025 (Streaming DiLoCo).
 */
#pragma once

#include "common/wan_time.h"

#include <stdbool.h>
#include <stddef.h>

#define WAN_HEADERS_B 52.0 /* IPv4, and TCP with the timestamp option */

/* Rate of one TCP stream: limited by link, window or losses. */
enum wan_congestion { WAN_RENO, WAN_CUBIC, WAN_BBR };
double wan_stream_Bps(enum wan_congestion cc, double link_Bps, double rtt_s, double loss,
                      double mss_B, double window_B);
/* Payload fraction of a rate that counts IP packets. The rest are the headers of segments, and the
 * ACKs for the other direction (one per two segments), which share the link if both are busy. */
double wan_goodput(double mtu_B);

/* A training job. */
struct wan_job {
    double parameters, layers, width, sequence; /* width and sequence: for the attention term */
    double tokens;                              /* in one global step */
    double gpus, peak_flops, mfu;
};
/* tokens (6 N + 12 layers width sequence) / (gpus peak mfu) */
double wan_compute_s(const struct wan_job *job);
double wan_flops_per_token(const struct wan_job *job);

/* Synchronising every `every` steps in `fragments` pieces. */
struct wan_schedule {
    double every, fragments; /* H, P */
    double hidden;           /* steps of compute that can overlap with the exchange of a fragment */
    double outer_s;          /* the outer optimiser's step, per synchronisation */
    double straggle_s;       /* waiting for the slowest, per step */
    double wire_s;           /* a fragment's time on the uplink alone; 0: all of its exchange */
};
/* Seconds per H steps in which nothing is computed, given the sync of one fragment:
 * P max(0, T_fragment - hidden T_c). The fragments follow each other over the same links, so it is
 * at least P T_fragment - H T_c; where several may be in flight, only their time on the uplink adds
 * up. Solved for the rate, this is the formula of Douillard et al. 2025
 * with hidden = 2/3 + tau: W = (bytes / P) / [(H T_c / P)(1/CU - 1) + (2/3 + tau) T_c]. The 2/3 is
 * the backward pass, beside which even the exchange of every step can run. */
double wan_exposed_s(const struct wan_schedule *sch, double compute_s, double fragment_s);
/* H T_c / (H T_c + exposed + outer + H straggle) */
double wan_efficiency(const struct wan_schedule *sch, double compute_s, double fragment_s);
