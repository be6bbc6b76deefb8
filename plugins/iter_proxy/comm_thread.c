/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/comm_thread.h"

#include <signal.h>

static struct comm_job *take(struct comm_thread *t)
{
    while (!t->first && !t->stop)
        pthread_cond_wait(&t->asked, &t->lock);
    struct comm_job *job = t->first;
    if (job)
        t->first = job->next;
    t->busy = job != NULL;
    return job;
}

static void *work(void *arg)
{
    struct comm_thread *t = arg;
    struct comm_job *job;
    pthread_mutex_lock(&t->lock);
    while ((job = take(t))) {
        bool failed = t->rc != MPI_SUCCESS;
        pthread_mutex_unlock(&t->lock);
        int rc = failed ? MPI_SUCCESS : job->how->run(&job->call);
        pthread_mutex_lock(&t->lock);
        if (rc != MPI_SUCCESS)
            t->rc = rc;
        t->busy = false;
        if (++t->done_jobs == t->wanted || !t->first)
            pthread_cond_signal(&t->done);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

int comm_thread_start(struct comm_thread *t)
{
    sigset_t all, before;
    *t = (struct comm_thread){.rc = MPI_SUCCESS};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->asked, NULL);
    pthread_cond_init(&t->done, NULL);
    sigfillset(&all); /* signals are the runner's, on its own thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&t->thread, NULL, work, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

void comm_thread_stop(struct comm_thread *t)
{
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_signal(&t->asked);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
}

void comm_thread_post(struct comm_thread *t, struct comm_job *job)
{
    job->next = NULL;
    pthread_mutex_lock(&t->lock);
    if (t->first)
        t->last->next = job;
    else
        t->first = job;
    t->last = job;
    pthread_cond_signal(&t->asked);
    pthread_mutex_unlock(&t->lock);
}

void comm_thread_wait_for(struct comm_thread *t, unsigned jobs)
{
    pthread_mutex_lock(&t->lock);
    t->wanted = jobs;
    while (t->done_jobs < jobs)
        pthread_cond_wait(&t->done, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

int comm_thread_wait(struct comm_thread *t)
{
    pthread_mutex_lock(&t->lock);
    while (t->first || t->busy)
        pthread_cond_wait(&t->done, &t->lock);
    int rc = t->rc;
    t->rc = MPI_SUCCESS;
    t->done_jobs = t->wanted = 0;
    pthread_mutex_unlock(&t->lock);
    return rc;
}
