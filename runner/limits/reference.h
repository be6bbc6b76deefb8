/* SPDX-License-Identifier: Apache-2.0
 *
 * Published numbers to compare a run with, in [reference] of its config:
 *
 *   NAME = VALUE [± TOLERANCE] at SECTION/CONFIG[/WORD…]/SIZE
 *
 *   small   = 17us +- 10% at nccl_allreduce latency/ring/LL128/8
 *   middle  = 1.2ms ± 5% at mpi_allreduce/auto/1MiB
 *   hot.128 = 355GB/s at nccl_allreduce/ctas=8/hot/128MiB
 *
 * SECTION is a workload section with its label. CONFIG is a config's label, which may contain
 * slashes. Each WORD is the value of a parameter, for places that match several cells. VALUE is a
 * time (median of one operation) or a rate (bus bandwidth). TOLERANCE is relative; "+-" is the same
 * as "±"; the default is [measure] equivalence. Numbers without such a place, or for another
 * workload, are ignored.
 *
 * A cell that is slower than the tolerance allows is a regression.
 */
#pragma once

#include "compare/compare.h"

/* Adds one contrast per reference, also for a cell that was not measured; its row says so.
 * `config`: file whose [reference] replaces that of the run; NULL: the run's own. GS_OK or
 * reported: GS_USAGE if a value cannot be read, a place matches no cell of the plan or several, or
 * there is no reference. */
int compare_reference(struct comparison *c, const char *root, const char *config);

/* True: a contrast with a reference is slower. */
bool comparison_regressed(const struct comparison *c);

/* Parses "1.2ms ± 5%", up to " at " if there is one. False: neither a time nor a rate. Without a
 * tolerance, out->tolerance is unchanged. */
struct reference_value {
    double value; /* seconds, or bytes per second */
    bool rate;
    double tolerance;
};
bool reference_parse(const char *text, struct reference_value *out);
