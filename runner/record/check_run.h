/* SPDX-License-Identifier: Apache-2.0
 *
 * The recordings of one run folder, each in itself and against plan.json and config.ini beside it,
 * whether or not there is a manifest.
 */
#ifndef GS_CHECK_RUN_H
#define GS_CHECK_RUN_H

#include <jansson.h>

/* The last part of the folder's path ("." and the like resolved). The caller frees it. */
char *check_run_id(const char *dir);

/* plan.json into *plan; NULL when there is none, as in an imported run. GS_OK, or GS_FAILED,
 * reported: damaged, or config.ini is not the config that was planned. */
int check_load_plan(const char *dir, json_t **plan);

/* GS_OK, or GS_FAILED, every fault reported. */
int check_recordings(const char *dir);

/* The same before the run is completed; one more line says what to do. */
int check_before_final(const char *dir);

#endif
