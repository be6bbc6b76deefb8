/* SPDX-License-Identifier: Apache-2.0 */
#include "tcp_pace.h"

#include <math.h>

#define WINDOW_MIN_S 0.05
#define START_WINDOW_MIN_S 0.02
#define READING_GAP_S 0.1 /* a longer silence between readings: nobody looked, start anew */
#define GROWTH 1.25       /* of a window, for the start to go on */
#define DRAIN_GAIN 0.8
#define PROBE_GAIN 1.1
#define PROBE_GAIN_MAX 2.0
#define PROBE_EVERY_S 2.0 /* of saturated sending */
#define QUEUE_MIN_S 0.004 /* less is jitter, not a queue */
#define RETRANS_HIGH 0.03 /* of what is acknowledged: more than a path loses at random */

void pace_init(struct pace *p)
{
    *p = (struct pace){.phase = PACE_START, .gain = PROBE_GAIN, .next_probe = PROBE_EVERY_S};
}

static double queue_limit(const struct pace *p)
{
    return fmax(p->rtt_min / 4, QUEUE_MIN_S);
}

double pace_rate(const struct pace *p)
{
    switch (p->phase) {
    case PACE_START:
        return 0;
    case PACE_DRAIN:
        return p->rate * DRAIN_GAIN;
    case PACE_PROBE:
        return p->rate * p->gain;
    case PACE_CRUISE:
        break;
    }
    return p->rate * PACE_HEADROOM;
}

static void enter(struct pace *p, enum pace_phase phase, double now)
{
    p->phase = phase;
    p->since = now;
    p->queued = p->flat = 0;
    p->w.last = 0;
}

void pace_rest(struct pace *p)
{
    if (p->phase == PACE_START && p->best > 0)
        p->rate = p->best;
    if (p->rate > 0)
        enter(p, PACE_CRUISE, p->w.last);
}

/* What a window came to. */
struct judged {
    double rate, queue_s, lost;
    bool saturated;
};

static struct judged judge(const struct pace *p, const struct pace_seen *s)
{
    double n = p->w.readings, took = s->now - p->w.from;
    double acked = (double)(s->acked - p->w.acked);
    return (struct judged){
        .rate = acked / took,
        .queue_s = p->w.rtt_sum / n - p->rtt_min,
        .lost = acked > 0 ? (double)(s->retrans - p->w.retrans) / acked : 0,
        .saturated = p->w.busy >= 0.9 * n && p->w.held <= 0.2 * n,
    };
}

static void judge_start(struct pace *p, const struct judged *j, double now)
{
    bool grew = j->rate > GROWTH * p->best;
    p->flat = grew || !j->saturated ? 0 : p->flat + 1;
    p->queued = j->queue_s > queue_limit(p) ? p->queued + 1 : 0;
    p->best = fmax(p->best, j->rate);
    if (p->flat < 3 && !(p->queued >= 2 && p->flat >= 1))
        return;
    p->rate = p->best;
    enter(p, PACE_DRAIN, now);
}

static void judge_cruise(struct pace *p, const struct judged *j, double took, double now)
{
    if (!j->saturated)
        return;
    bool behind = j->rate < 0.9 * pace_rate(p);
    bool full = j->queue_s > queue_limit(p) || (behind && j->lost > RETRANS_HIGH);
    p->queued = full ? p->queued + 1 : 0;
    if (p->queued >= 2 && j->rate < p->rate) /* halfway: one late reader is no slower link */
        p->rate -= (p->rate - j->rate) / 2;
    p->next_probe -= took;
    if (p->queued == 0 && p->next_probe <= 0)
        enter(p, PACE_PROBE, now);
}

static void judge_probe(struct pace *p, const struct judged *j, double now)
{
    bool more = j->rate > 1.03 * p->rate;
    if (j->saturated || more)
        p->rate = fmax(p->rate, j->rate);
    p->gain = more ? fmin(1.25 * p->gain, PROBE_GAIN_MAX) : PROBE_GAIN;
    p->next_probe = more ? 0 : PROBE_EVERY_S;
    enter(p, more ? PACE_CRUISE : PACE_DRAIN, now);
}

static void judge_drain(struct pace *p, const struct judged *j, double now)
{
    if (j->queue_s < queue_limit(p) / 2 || now - p->since > 4 * fmax(p->rtt_min, WINDOW_MIN_S))
        enter(p, PACE_CRUISE, now);
}

static void close_window(struct pace *p, const struct pace_seen *s)
{
    struct judged j = judge(p, s);
    double took = s->now - p->w.from;
    p->w.last = 0;
    switch (p->phase) {
    case PACE_START:
        judge_start(p, &j, s->now);
        break;
    case PACE_DRAIN:
        judge_drain(p, &j, s->now);
        break;
    case PACE_CRUISE:
        judge_cruise(p, &j, took, s->now);
        break;
    case PACE_PROBE:
        judge_probe(p, &j, s->now);
        break;
    }
}

static void open_window(struct pace *p, const struct pace_seen *s)
{
    p->w.from = s->now;
    p->w.acked = s->acked;
    p->w.retrans = s->retrans;
    p->w.rtt_sum = 0;
    p->w.readings = p->w.busy = p->w.held = 0;
}

static double window_s(const struct pace *p)
{
    switch (p->phase) {
    case PACE_START:
        return fmax(p->rtt_min, START_WINDOW_MIN_S);
    case PACE_DRAIN:
        return fmax(p->rtt_min / 2, QUEUE_MIN_S);
    default:
        return fmax(p->rtt_min, WINDOW_MIN_S);
    }
}

double pace_feed(struct pace *p, const struct pace_seen *s)
{
    if (s->rtt_min > 0 && (p->rtt_min <= 0 || s->rtt_min < p->rtt_min))
        p->rtt_min = s->rtt_min;
    bool fresh = p->w.last <= 0 || s->now - p->w.last > READING_GAP_S;
    /* What is acknowledged in a probe's first round trip was sent before it. */
    if (fresh && p->phase == PACE_PROBE && s->now - p->since < p->rtt_min)
        return pace_rate(p);
    if (fresh)
        open_window(p, s);
    p->w.last = s->now;
    p->w.readings++;
    p->w.rtt_sum += s->rtt > 0 ? s->rtt : p->rtt_min;
    p->w.busy += s->busy;
    p->w.held += s->held;
    if (s->now - p->w.from >= window_s(p))
        close_window(p, s);
    return pace_rate(p);
}
