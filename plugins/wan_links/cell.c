/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_links/cell.h"

#include "common/round_peer.h"

#include <stdio.h>

/* Numbers of streams, and the first of the streams of each. */
static const int64_t counts[] = {1, 4, 8, 16};
static const int firsts[] = {0, 1, 5, 13};
#define COUNTS ((int)(sizeof counts / sizeof *counts))

static const char *const ways[] = {
    [IDLE] = "idle", [ALONE] = "alone", [BOTH] = "both", [ALL] = "all", NULL};
const char *const cell_congestions[] = {"cubic", "bbr", NULL};

#define P(member, type, role, ctype) #member, type, role, WL_FIELD(struct cell, member, ctype)
#define T(member, role) #member, WL_TEXT, role, WL_TEXT_FIELD(struct cell, member)
/* clang-format off */
const struct wl_param cell_params[] = {
    {P(round, WL_INT, WL_AXIS, int64_t), NULL, "1", 1, 65535, NULL,
     "round of the pairs; after n - 1 rounds (n if n is odd) each of n ranks has met all others"},
    {P(way, WL_CHOICE, WL_MODE, int), NULL, "both", 0, 0, ways,
     "idle: round trips alone; alone: each direction after the other; both: both at once; all: every rank to all others at once, in round 1"},
    {P(streams, WL_INT, WL_CONFIG, int64_t), NULL, "8", 1, 16, NULL,
     "TCP connections that carry the data of a pair: 1, 4, 8 or 16"},
    {P(congestion, WL_CHOICE, WL_CONFIG, int), NULL, "cubic", 0, 0, cell_congestions,
     "TCP congestion control of both ends"},
    {P(measure, WL_TIME, WL_AXIS, double), "s", "300ms", 0.05, 60, NULL,
     "time of a measurement, after a warm-up of 200 ms and six round trips"},
    {P(at_once, WL_BOOL, WL_AXIS, bool), NULL, "yes", 0, 0, NULL,
     "no: the pairs of a round measure one after the other, for pairs that share a line"},
    {P(timeout, WL_TIME, WL_AXIS, double), "s", "30s", 0.1, 86400, NULL,
     "longest silence of a rank before the cell fails"},
    {T(interface, WL_AXIS), NULL, "", 0, 0, NULL,
     "network interface; empty: all but loopback"},
    {P(port, WL_INT, WL_AXIS, int64_t), NULL, "0", 0, 65535, NULL,
     "TCP port of the first rank on a node; the others add their local rank; 0: any free port"},
    {T(addresses, WL_AXIS), NULL, "", 0, 0, NULL,
     "file with the addresses by which others reach each host; as in wan_sync"},
    {0}};
/* clang-format on */

const struct wl_metric cell_metrics[] = {
    [M_TIME] = {"time", "s", "time of 1 MiB in the slower direction of the slowest pair", WL_MAX},
    [M_RATE] = {"rate", "B/s", "payload that the rank sent to its peer", WL_EACH},
    [M_LOSS] = {"loss", "1", "share of the segments that the rank sent again", WL_EACH},
    [M_RTT] = {"rtt", "s", "round trip to the peer: the shortest one if idle, else under load",
               WL_EACH},
    [M_SPREAD] = {"rtt_spread", "s", "idle round trips: 90th percentile minus the shortest",
                  WL_EACH},
    [M_SEGMENT] = {"segment", "B", "payload of a full packet", WL_EACH},
    [M_MTU] = {"mtu", "B", "largest IP packet on the path to the peer", WL_EACH},
    [M_RECEIVED] = {"received", "B/s", "payload that came to the rank meanwhile; 0: it only sent",
                    WL_EACH},
    {0}};

static int count_index(int64_t streams)
{
    int i = 0;
    while (i < COUNTS && counts[i] != streams)
        i++;
    return i;
}

int cell_first_stream(const struct cell *c)
{
    return c->congestion * CELL_STREAMS_EACH + firsts[count_index(c->streams)];
}

enum wl_status cell_describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                             char *why, size_t why_size)
{
    const struct cell *c = cell;
    if (job->ranks < 2)
        snprintf(why, why_size, "%d rank has no link; set [launch] ranks to the number of sites",
                 job->ranks);
    else if (c->round > round_count(job->ranks))
        snprintf(why, why_size, "round=%lld: %d ranks have %d rounds", (long long)c->round,
                 job->ranks, round_count(job->ranks));
    else if (c->way == ALL && c->round > 1) {
        snprintf(why, why_size, "way=all has no round=%lld: all ranks meet in round 1",
                 (long long)c->round);
        return WL_SKIP;
    } else if (count_index(c->streams) == COUNTS)
        snprintf(why, why_size, "streams=%lld: choose 1, 4, 8 or 16", (long long)c->streams);
    else {
        shape->size_B = (uint64_t)CELL_UNIT_B;
        shape->busbw_factor = c->way != IDLE;
        shape->iteration_s = (c->way == ALONE ? 2 : 1) * (c->measure + 2 * CELL_WARM_S) *
                             (c->at_once || c->way == ALL ? 1 : job->ranks / 2);
        shape->iters_min = shape->iters_max = 1;
        shape->config_free = c->way == IDLE;
        return WL_OK;
    }
    return WL_FAIL;
}
