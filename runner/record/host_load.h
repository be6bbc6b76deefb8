/* SPDX-License-Identifier: Apache-2.0
 *
 * Was a machine idle, apart from our own ranks, while a run was measured?
 *
 * A recording has, after each block, how many cores of a host were busy in the mean since the
 * launch began (busy_cores: user, nice and system time of /proc/stat), and how many of them each of
 * our ranks used (own_cores: the CPU time of all its threads). The rest was used by other programs.
 * In the mean over the launches, a host was not idle when that is more than half a core and more
 * than 2% of its cores. So a run that keeps every core busy itself, with any number of threads, is
 * idle otherwise; and what a build left in the load average is not held against it.
 *
 * The load average (load1) counts our own ranks, and the programs of the minute before. It is
 * shown, and judged only where a recording has nothing else (older ones, launches below a second):
 * then a host was not idle when its load was above its number of cores and above two for each rank,
 * which may compute and communicate at a time.
 *
 * Emulated sites share one machine, and their network is at work on it: they are never judged. A
 * lab watches itself (lab/lateness.h).
 */
#ifndef GS_HOST_LOAD_H
#define GS_HOST_LOAD_H

#include <stddef.h>

/* "load 6.7 on 2 cores, other programs used 1.4 of them: not idle" of the busiest host, which is
 * named when there are several. The caller's; NULL: idle, or not known. */
char *host_load_text(const char *run);
/* One line on stderr for all of the runs that were not on an idle machine, with the first's text.
 */
void host_load_warn(const char *const *runs, size_t n);

#endif
