/* SPDX-License-Identifier: Apache-2.0
 *
 * wan.csv: what wan_sync measured, beside the model of the same cell on the [sites] and [links] of
 * the recorded config. The model gets bandwidth, RTT, loss, MTU, the schedule, the measured compute
 * and outer step, and how wan_sync sends: blocks, streams, its share of the rate (constants of
 * plugins/wan_sync), TCP's first window and timers, and a tenth of a millisecond for each hop. No
 * number of the model is fitted to a row.
 *
 *   rate, rtt, loss   the slowest end, the longest round trip, the greatest loss of the config
 *   sync              one synchronisation of `size`; bound: no algorithm is faster (wan/training.h)
 *   effective         size 2(n-1)/n / sync, a bus bandwidth
 *   wire              bytes that the busiest rank sent in one synchronisation
 *   exposed           the part of a step without computation; step: the mean duration of a step
 *   target            seconds to target_tokens
 * Columns of the model are empty for MPI's own algorithm, and where the config has no sites. Columns
 * of a step are empty where nothing was computed.
 */
#pragma once

#include "base/csv.h"
#include "reduce/gather.h"
#include "reduce/summary.h"

/* ---- rows ---- */

extern const char wan_columns[];

/* A row for each cell of the group that has numbers, if the workload is wan_sync. cells: with their
 * metrics, as r->cells. GS_OK or reported: the recorded config cannot be read. */
int wan_rows(struct csv *c, const struct recorded *r, const struct gathered *g,
             const struct summary *cells);
