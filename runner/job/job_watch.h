/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds out, while a user's job runs on this host, on which GPUs it runs, and which other programs use
 * these GPUs. A program on a GPU is the job's if it descends from this
 * process. Where none does (the job was started by a daemon, or has process ids of its own), it is
 * the job's if it was not there before the job. Jobs without a GPU have no GPUs to tell.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct job_watch; /* NULL where nobody watches: it knows nothing */

/* Before the job starts. Never NULL. */
struct job_watch *job_watch_new(void);
void job_watch_free(struct job_watch *w);
/* Call it often while the job runs: it looks every few seconds. */
void job_watch_look(struct job_watch *w);

/* [facts]: the GPUs of the job, as nvml.h tells them. */
json_t *job_watch_gpus(const struct job_watch *w);
/* The facts of the GPU with this UUID; {"uuid": UUID} for one that this host does not have. */
json_t *job_watch_gpu(const struct job_watch *w, const char *uuid);
/* {"0": {"gpu": {sm_Hz (the lowest seen under the job), throttle, others (the most seen)}}, ...} of
 * the GPUs of the job, in the order of job_watch_gpus(). NULL: none. */
json_t *job_watch_health(const struct job_watch *w);
