/* SPDX-License-Identifier: Apache-2.0
 *
 * Estimates the rate of an uplink from the acknowledged bytes over time, and chooses the sending
 * rate. A window is a short measurement. The phases:
 *
 * - start: send at most START_GAIN times the rate of the best window. Ends after three windows that
 *   do not grow by a quarter, or after one if there is a standing queue
 * - measure: send slightly faster than that for a quarter of a second; the rate that arrives is the
 *   estimate
 * - drain: send slightly slower until the queue of the phases before is empty
 * - cruise: send at PACE_HEADROOM times the estimate
 * - probe: from time to time, send faster for a round trip and a window, or until a queue stands;
 *   if more arrives, raise the estimate and make the next probe larger
 *
 * The estimate is the third best of the saturated windows of two seconds; a window in which all
 * that was sent arrived counts as the estimate itself. So a single late reader or burst of
 * acknowledgements has no effect, and a drop to a tenth is detected within two or three seconds.
 *
 * Its benefit (four sites, 100 Mbit/s, packets of 9000 bytes; `make bench-wan PART=ablate`): a ring
 * reaches 98% of the bound with it. Without it CUBIC reaches 92% at 10 ms and 88% at 30 ms, BBR 96%
 * and 94%. Where losses are the limit (0.1%, packets of 1500 bytes) it has none: 72 and 73% with
 * CUBIC, 95 and 97% with BBR.
 *
 * Pure arithmetic: no clock, no socket. Rates are payload bytes per second, times are seconds. The
 * phases are those of BBR (Cardwell et al. 2016), over all streams and with windows in place of its
 * filters of single packets.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PACE_HEADROOM 0.98
#define PACE_WINDOWS 40

enum pace_phase { PACE_START, PACE_MEASURE, PACE_DRAIN, PACE_CRUISE, PACE_PROBE };

struct pace {
    enum pace_phase phase;
    double rate;    /* the estimate; 0: none yet */
    double rtt_min; /* the shortest round trip seen; 0: none */
    double burst_B;
    double gain;  /* of a probe */
    double usual; /* round trip before the probe: acknowledgements also wait in queues of others */
    double since, until;
    double next_probe; /* seconds of sending until the next probe */
    int flat, queued;  /* windows in a row without growth, with a standing queue */
    double best;       /* rate of the best window of phase start */
    double peak;       /* the highest estimate since the last start */
    int low;           /* windows in a row far below the peak without a queue */
    double recent[PACE_WINDOWS];
    unsigned windows;
    struct {               /* the window that is being measured */
        double from, last; /* last: the latest reading; 0: no window is open */
        uint64_t acked, resent;
        double rtt_sum;
        unsigned readings, busy, held;
    } w;
};

/* One reading, of all streams together. */
struct pace_seen {
    double now;
    uint64_t acked, resent; /* bytes since the link opened; never fall */
    double rtt;             /* the shortest smoothed round trip of the streams that send; 0: none */
    double rtt_min;         /* the shortest the kernel ever saw; 0: none */
    double burst_B;         /* the streams may send this at once: such a queue does not count */
    bool busy;              /* more was to be sent than the kernel accepted */
    bool held;              /* a receiver's window kept a stream back */
};

void pace_init(struct pace *p);
/* Takes a reading, some milliseconds after the last one, and returns the rate to send at;
 * 0: no limit. */
double pace_feed(struct pace *p, const struct pace_seen *s);
/* Another estimate is in use for now: discards the open window. */
void pace_leave(struct pace *p);
/* Call it after a pause: the queue is empty. If phase start was running, its result so far becomes
 * the estimate. */
void pace_rest(struct pace *p);
/* `sharers` shared the measured rate; from now on this one may use all of it. */
void pace_alone(struct pace *p, int sharers);
/* True: there is an estimate. */
bool pace_known(const struct pace *p);
/* The rate to send at now. */
double pace_rate(const struct pace *p);
