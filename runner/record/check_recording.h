/* SPDX-License-Identifier: Apache-2.0
 *
 * One recording, line by line: order, ids, counts and times (record.h), and that it belongs to the
 * run whose folder it lies in.
 */
#ifndef GS_CHECK_RECORDING_H
#define GS_CHECK_RECORDING_H

#include <jansson.h>

#define CHECK_MAX_FAULTS 20 /* of one file: the rest is said to be there */

/* `run_id`: NULL, or the run's; `plan`: NULL, or plan.json. GS_OK or GS_FAILED, every fault
 * reported. */
int check_recording(const char *path, const char *run_id, const json_t *plan);

#endif
