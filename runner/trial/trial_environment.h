/* SPDX-License-Identifier: Apache-2.0
 *
 * The variables by which NCCL finds its plugins, and plugins that it would load without them.
 */
#pragma once

/* GS_OK, or GS_USAGE, reported: the job already has a tuner, which the trial would replace.
 * NCCL_TUNER_PLUGIN=none says that this is wanted. */
int trial_environment_check(void);
/* For the command. A profiler that the user has is left in place: then nothing reports what NCCL
 * ran. */
void trial_environment_set(const char *plugin, const char *config);
/* The same for the object of a price; a tuner that the job has is left in place. In the process of the
 * command alone. */
void trial_environment_preload(const char *object, const char *config);
