/* SPDX-License-Identifier: Apache-2.0
 *
 * The rate of an uplink, estimated from what is acknowledged over time, and the rate to send at.
 *
 *   start   no limit but TCP's own; ends when three windows bring no quarter more, or a queue
 * stands drain   a little slower, until the queue of what came before is gone cruise  PACE_HEADROOM
 * of the estimate; a queue that stands there means that the link gives less than estimated, and
 * what was acknowledged meanwhile is what it gives probe   now and then faster, for a round trip
 * and a window: more came through, the estimate grows and the next probe is bolder
 *
 * Pure arithmetic: no clock, no socket. Rates in bytes a second of payload, times in seconds. After
 * the stages of BBR (Cardwell et al. 2016), with windows in place of its per-packet filters.
 */
#ifndef WAN_SYNC_TCP_PACE_H
#define WAN_SYNC_TCP_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_HEADROOM 0.975

enum pace_phase { PACE_START, PACE_DRAIN, PACE_CRUISE, PACE_PROBE };

struct pace {
    enum pace_phase phase;
    double rate;           /* the estimate; 0: none yet */
    double rtt_min;        /* the shortest round trip seen; 0: none */
    double gain;           /* of a probe */
    double since;          /* the phase began */
    double next_probe;     /* saturated seconds until the next probe */
    int flat, queued;      /* windows in a row without growth, with a standing queue */
    double best;           /* of the start */
    struct {               /* the window that is being measured */
        double from, last; /* last: the latest reading; 0: no window is open */
        uint64_t acked, retrans;
        double rtt_sum;
        unsigned readings, busy, held;
    } w;
};

/* One reading, of all streams together. */
struct pace_seen {
    double now;
    uint64_t acked, retrans; /* bytes since the link opened; never fall */
    double rtt;     /* the shortest smoothed round trip of the streams that send; 0: none */
    double rtt_min; /* the shortest the kernel ever saw; 0: none */
    bool busy;      /* there was more to send than the kernel took */
    bool held;      /* a receiver's window kept a stream back */
};

void pace_init(struct pace *p);
/* Takes a reading, some milliseconds after the last one, and returns the rate to send at;
 * 0: no limit. */
double pace_feed(struct pace *p, const struct pace_seen *s);
/* After a pause: no queue stands any more, and what the start found so far is the estimate. */
void pace_rest(struct pace *p);
/* The rate to send at now. */
double pace_rate(const struct pace *p);

#endif
