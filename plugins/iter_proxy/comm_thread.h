/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that runs collectives in the order of posting, so that blocking algorithms overlap the
 * computation. From the first comm_thread_post() to the end of comm_thread_wait(), no other thread
 * of the process may call MPI. So MPI_THREAD_SERIALIZED is enough.
 */
#pragma once

#include "common/mpi_collectives.h"

#include <pthread.h>

/* The caller owns it, but must not touch it from post to wait. */
struct comm_job {
    const struct allreduce *how;
    struct allreduce_call call;
    struct comm_job *next;
};

struct comm_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked, done;
    struct comm_job *first, *last;
    bool busy, stop;
    unsigned done_jobs, wanted; /* since the last comm_thread_wait() */
    int rc;                     /* the first failure since the last wait */
};

/* 0, or the error number of pthread_create(). */
int comm_thread_start(struct comm_thread *t);
/* No job may be running. */
void comm_thread_stop(struct comm_thread *t);

/* Waits until `jobs` of the jobs posted since the last comm_thread_wait() are done. */
void comm_thread_wait_for(struct comm_thread *t, unsigned jobs);
void comm_thread_post(struct comm_thread *t, struct comm_job *job);
/* Waits for all posted jobs. Returns MPI_SUCCESS or the first error code. */
int comm_thread_wait(struct comm_thread *t);
