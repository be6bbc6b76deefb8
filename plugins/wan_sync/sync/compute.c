/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/sync/compute.h"

#include "common/clock.h"
#include "common/gemm.h"

#include <cblas.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#define LOOK_S 1e-3 /* how often the main thread looks whether the GEMMs are done */

struct compute {
    double emulated_s;
    unsigned gemms;
    struct gemm *list, *gemm; /* NULL: emulated */
    struct gemm_shape shape;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked;
    bool work, stop; /* under the lock */
    atomic_bool done;
};

static void *run(void *arg)
{
    struct compute *k = arg;
    pthread_mutex_lock(&k->lock);
    for (;;) {
        while (!k->work && !k->stop)
            pthread_cond_wait(&k->asked, &k->lock);
        if (k->stop)
            break;
        k->work = false;
        pthread_mutex_unlock(&k->lock);
        gemm_run(k->gemm, &k->shape, k->gemms);
        atomic_store(&k->done, true);
        pthread_mutex_lock(&k->lock);
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

static bool start_thread(struct compute *k)
{
    sigset_t all, before;
    sigfillset(&all); /* signals are the runner's, on its own thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&k->thread, NULL, run, k);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

struct compute *compute_open(const struct cell *c, uint64_t seed)
{
    struct compute *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->emulated_s = c->compute * (double)c->accumulate;
    if (c->compute_kind == COMPUTE_EMULATED)
        return k;
    k->gemms = (unsigned)(c->gemms * c->accumulate);
    openblas_set_num_threads(1);
    pthread_mutex_init(&k->lock, NULL);
    pthread_cond_init(&k->asked, NULL);
    size_t n = (size_t)c->gemm;
    k->shape = (struct gemm_shape){.m = n, .n = n, .k = n};
    k->gemm = gemm_take(&k->list, (struct gemm_space){n * n, n * n, n * n}, seed);
    if (k->gemm && start_thread(k))
        return k;
    gemm_drop(&k->list, k->gemm);
    free(k);
    return NULL;
}

void compute_close(struct compute *k)
{
    if (k->gemm) {
        pthread_mutex_lock(&k->lock);
        k->stop = true;
        pthread_cond_signal(&k->asked);
        pthread_mutex_unlock(&k->lock);
        pthread_join(k->thread, NULL);
        gemm_drop(&k->list, k->gemm);
    }
    free(k);
}

static bool gemms_beside(struct compute *k, struct sync *s)
{
    atomic_store(&k->done, false);
    pthread_mutex_lock(&k->lock);
    k->work = true;
    pthread_cond_signal(&k->asked);
    pthread_mutex_unlock(&k->lock);
    bool good = true;
    while (!atomic_load(&k->done)) {
        if (good)
            good = sync_poll(s, LOOK_S);
        else
            nanosleep(&(struct timespec){.tv_nsec = (long)(LOOK_S * 1e9)}, NULL);
    }
    return good;
}

bool compute_step(struct compute *k, struct sync *s, double owed_s, double *took_s)
{
    uint64_t begin = now_ns();
    if (k->gemm) {
        bool good = gemms_beside(k, s);
        *took_s += owed_s + (double)(now_ns() - begin) * 1e-9;
        return good;
    }
    *took_s += fmax(k->emulated_s, owed_s);
    return k->emulated_s <= owed_s || sync_poll(s, k->emulated_s - owed_s);
}

bool compute_check(const struct compute *k)
{
    return !k->gemm || gemm_check(k->gemm, &k->shape);
}
