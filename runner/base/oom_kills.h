/* SPDX-License-Identifier: Apache-2.0
 *
 * How many processes the kernel has killed because memory ran out.
 */
#pragma once

#define OOM_KILLS_FILE "/proc/vmstat" /* of this host since it was started */

/* The counter "oom_kill" of a file of this form; -1: the kernel does not tell. */
long long oom_kills(const char *path);
