/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks the recordings of one run folder: each by itself and against plan.json, config.ini and the
 * name of the folder. It needs no manifest.
 */
#pragma once

/* The last part of the folder's real path. The caller frees it. */
char *check_run_id(const char *dir);

/* GS_OK, or GS_FAILED with each fault reported. */
int check_recordings(const char *dir);

/* The same, for a run that is about to be completed; its last message gives the remedy. */
int check_before_final(const char *dir);
