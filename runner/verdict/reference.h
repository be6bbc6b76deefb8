/* SPDX-License-Identifier: Apache-2.0
 *
 * Published numbers to hold a run against, in [reference] of its config:
 *
 *   NAME = VALUE [± TOLERANCE] at SECTION/CONFIG[/WORD…]/SIZE
 *
 *   small   = 17us +- 10% at nccl_allreduce latency/ring/LL128/8
 *   middle  = 1.2ms ± 5% at mpi_allreduce/auto/1MiB
 *   hot.128 = 355GB/s at nccl_allreduce/ctas=8/hot/128MiB
 *
 * SECTION is the workload's, with its label; CONFIG a config's label, which may hold slashes
 * itself; each WORD is the value of a parameter, and narrows down a place that several cells would
 * fit. VALUE is a time (median of one operation) or a rate (bus bandwidth); the tolerance is
 * relative,
 * "+-" may stand for "±", and [measure] equivalence is the default. Numbers without such a place,
 * or of another workload than the run's, are left alone.
 *
 * Slower than the tolerance is a regression.
 */
#ifndef GS_VERDICT_REFERENCE_H
#define GS_VERDICT_REFERENCE_H

#include "compare.h"

/* Is the baseline of a row, as a table has it, a reference? A config's label has no place. */
bool reference_is_baseline(const char *text);

/* Adds a contrast a reference; one whose cell was not measured is a row that says so. `config`: a
 * file whose [reference] is taken instead of the run's own; NULL: its own. GS_OK or reported:
 * GS_USAGE for a value that cannot be read, a key that fits no cell of the plan or more than one,
 * no reference at all. */
int compare_reference(struct comparison *c, const char *root, const char *config);

/* Does any contrast with a reference say slower? */
bool comparison_regressed(const struct comparison *c);

/* "1.2ms ± 5%", or what of it stands before " at "; false when it is neither a time nor a rate. The
 * tolerance is left when not given. */
struct reference_value {
    double value; /* seconds, or bytes a second */
    bool rate;
    double tolerance;
};
bool reference_parse(const char *text, struct reference_value *out);

#endif
