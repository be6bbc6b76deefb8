/* SPDX-License-Identifier: Apache-2.0
 *
 * wan.csv: what wan_sync measured, and beside it what the model says of the same cell on the
 * [sites] and [links] of the recorded config. The model sees B, RTT, loss, mtu, the schedule, the
 * measured compute and outer step, and how wan_sync sends: blocks, streams, the rate it keeps to
 * (constants of plugins/wan_sync), TCP's first window and timers, a tenth of a millisecond a hop.
 * Nothing in it is fitted to a row.
 *
 *   rate, rtt, loss   the least end, the longest round trip, the greatest loss of the config
 *   sync              one synchronisation of `size`; bound: no algorithm is faster (model.h)
 *   effective         size 2(n-1)/n / sync, a busbw
 *   wire              bytes that the busiest rank sent in it
 *   exposed           of a step, in which nothing is computed; step: its mean duration
 *   target            seconds to target_tokens
 * The columns of the model are empty for MPI's own algorithm, those of a step where nothing was
 * computed, and all of the model's where the config has no sites.
 */
#ifndef GS_WAN_MEASURED_H
#define GS_WAN_MEASURED_H

#include "base/csv.h"
#include "reduce/gather.h"

extern const char wan_columns[];

/* A row a cell of the group that has numbers; none unless the workload is wan_sync. GS_OK or
 * reported: the recorded config cannot be read. */
int wan_rows(struct csv *c, const struct recorded *r, const struct gathered *g);

#endif
