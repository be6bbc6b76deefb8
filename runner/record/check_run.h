/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks the recordings of one run folder: each by itself and against plan.json and config.ini. It
 * needs no manifest.
 */
#ifndef GS_CHECK_RUN_H
#define GS_CHECK_RUN_H

#include <jansson.h>

/* The last part of the folder's real path. The caller frees it. */
char *check_run_id(const char *dir);

/* Reads plan.json into *plan; NULL if there is none, as in an imported run. GS_OK, or GS_FAILED,
 * reported: the file is damaged, or config.ini is not the planned config. */
int check_load_plan(const char *dir, json_t **plan);

/* GS_OK, or GS_FAILED with each fault reported. */
int check_recordings(const char *dir);

/* The same, for a run that is about to be completed; its last message gives the remedy. */
int check_before_final(const char *dir);

#endif
