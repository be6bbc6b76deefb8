/* SPDX-License-Identifier: Apache-2.0
 *
 * A name that is no run and no platform, but something that a user may confuse with one.
 */
#pragma once

/* "is a config of the platform 'local': use that name", or that of a workload, of a label or of a
 * folder below data/raw; the caller frees it. NULL: it is none of these. */
char *run_name_meaning(const char *name);
/* Reports the meaning, or as locate_failed. Returns GS_USAGE. */
int run_name_failed(const char *name);
