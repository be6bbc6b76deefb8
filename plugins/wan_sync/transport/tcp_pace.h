/* SPDX-License-Identifier: Apache-2.0
 *
 * The rate of an uplink, estimated from what is acknowledged over time, and the rate to send at.
 *
 * - start: START_GAIN times the best window at most; ends when three windows bring no quarter more,
 *   or one does not and a queue stands
 * - measure: a little more than that, for a quarter of a second; what comes through is the estimate
 * - drain: a little slower, for as long as the queue needs that came before
 * - cruise: PACE_HEADROOM of the estimate
 * - probe: now and then faster, for a round trip and a window, or until a queue stands; when more
 *   came through the estimate grows, and the next probe is bolder
 *
 * The estimate is the third best of two seconds of saturated windows, where a window that brought
 * what was sent counts as the estimate itself. So one late reader or one burst of acknowledgements
 * changes nothing, and a link that drops to a tenth is known after two or three seconds.
 *
 * Pure arithmetic: no clock, no socket. Rates in bytes a second of payload, times in seconds. The
 * phases are those of BBR (Cardwell et al. 2016), over all streams and with windows in place of its
 * filters of single packets.
 */
#ifndef WAN_SYNC_TCP_PACE_H
#define WAN_SYNC_TCP_PACE_H

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
    double usual; /* round trip before it: acknowledgements wait in others' queues too */
    double since, until;
    double next_probe; /* seconds of sending until then */
    int flat, queued;  /* windows in a row without growth, with a standing queue */
    double best;       /* window of the start */
    double peak;       /* the highest estimate since the last start */
    int low;           /* windows in a row far below it without a queue */
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
    double burst_B;         /* that the streams may send at once: a queue of so much is none */
    bool busy;              /* there was more to send than the kernel took */
    bool held;              /* a receiver's window kept a stream back */
};

void pace_init(struct pace *p);
/* Takes a reading, some milliseconds after the last one, and returns the rate to send at;
 * 0: no limit. */
double pace_feed(struct pace *p, const struct pace_seen *s);
/* Another estimate is in force for now: the window that was open counts no more. */
void pace_leave(struct pace *p);
/* After a pause: no queue stands any more, and what the start found so far is the estimate. */
void pace_rest(struct pace *p);
/* So many shared what was measured, and this one may have it alone from now on. */
void pace_alone(struct pace *p, int sharers);
/* There is a first estimate. */
bool pace_known(const struct pace *p);
/* The rate to send at now. */
double pace_rate(const struct pace *p);

#endif
