/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks one recording line by line: order, ids, counts and times (record.h), and that it belongs to
 * the run of its folder.
 */
#ifndef GS_CHECK_RECORDING_H
#define GS_CHECK_RECORDING_H

#include <jansson.h>

#define CHECK_MAX_FAULTS 20 /* reported for one file */

/* `run_id` and `plan` (plan.json) may be NULL: then the file is not compared with them. GS_OK, or
 * GS_FAILED with each fault reported. */
int check_recording(const char *path, const char *run_id, const json_t *plan);

#endif
