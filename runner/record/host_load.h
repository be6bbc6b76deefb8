/* SPDX-License-Identifier: Apache-2.0
 *
 * What disturbed a launch: throttled clocks of the GPUs, and programs of others on the processors.
 */
#pragma once

#include "record/raw.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- GPU clocks ---- */

/* Reads a health line (record.h). Adds to *readings the readings that name throttle reasons, and to
 * *throttled those with an active power cap or another reason that depends on the load. */
void host_load_throttled(const json_t *health, size_t *readings, size_t *throttled);

/* Does the reason depend on the load? An idle GPU and fixed clocks are reasons too. */
bool host_load_slows(const char *reason);

/* ---- other programs ---- */

/* Finds out whether other programs used a host during a run.
 *
 * After each block a recording holds busy_cores, the mean number of busy cores of the host since
 * the launch began (user, nice and system time of /proc/stat), and own_cores, the mean number that
 * each of our ranks used (CPU time of all its threads). The difference is the use by other
 * programs. A host was not idle in a launch if this difference is above half a core and above 2% of
 * its cores. A run that keeps every core busy itself can thus be idle otherwise, and a build before
 * the run, which raises the load average, does not matter. Each launch is judged, and so are the
 * programs on its GPUs that were not ours. The statistics leave such launches out if they are less
 * than half of a run (reduce/gather.h); else the run was not idle, which is said of their mean.
 *
 * The load average (load1) includes our own ranks and the programs of the minute before. It is
 * shown, but decides only if a recording has nothing else (older recordings, launches shorter than
 * a second). A host was then not idle if its load was above its number of cores and above two per
 * rank, because a rank may compute and communicate at the same time.
 *
 * Emulated sites share one machine with their emulated network, so they are not judged. A lab
 * checks itself (lab/relay.h). */

struct disturbed_launch {
    int launch;
    char *why; /* "other programs used 4.2 of 32 cores" */
};
struct disturbed_launches {
    struct disturbed_launch *v; /* by launch */
    size_t n;
};
/* What the recordings of a run say of their hosts, from their headers and lines of health in order. */
struct host_load;
struct host_load *host_load_new(void);
void host_load_line(struct host_load *h, const struct raw_line *l);
void host_load_delete(struct host_load *h);
/* After the last line. */
void host_load_disturbed(struct disturbed_launches *d, struct host_load *h);
void host_load_free(struct disturbed_launches *d);

/* Warns in one line on stderr about the runs whose busiest host was not idle, but for launches that the
 * statistics leave out. */
void host_load_warn(const char *const *runs, size_t n);
