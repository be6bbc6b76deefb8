/* SPDX-License-Identifier: Apache-2.0
 *
 * A pretended libcuda.so.1: streams are threads that run their operations in order, events are real, device memory is
 * the host's. A GPU runs collectives of one NCCL at a time, as a real one may: if two ranks begin those of two NCCLs in
 * another order, they wait for each other for ever.
 *   PRETEND_MEMORY_MIB   of a GPU (8192)
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GPUS 8
#define NOT_READY 600

struct operation {
    struct operation *next;
    void (*run)(void *);
    void *of;
};

struct event {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t recorded, reached; /* numbers of records */
    struct timespec at;
};

struct stream {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct operation *first, *last;
    int busy;
};

static struct stream *default_streams[GPUS];
static size_t used[GPUS];
static struct {
    const void *library;
    int running;
} gpus[GPUS];
static pthread_mutex_t gpu_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gpu_left = PTHREAD_COND_INITIALIZER;
static _Thread_local int device = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int pretend_device(void)
{
    const char *rank = getenv("LOCAL_RANK");
    if (device < 0)
        device = rank ? atoi(rank) % GPUS : 0;
    return device;
}

void pretend_use_device(int d)
{
    device = d;
}

void pretend_enter(int d, const void *library)
{
    pthread_mutex_lock(&gpu_lock);
    while (gpus[d].running && gpus[d].library != library)
        pthread_cond_wait(&gpu_left, &gpu_lock);
    gpus[d].library = library;
    gpus[d].running++;
    pthread_mutex_unlock(&gpu_lock);
}

void pretend_leave(int d)
{
    pthread_mutex_lock(&gpu_lock);
    gpus[d].running--;
    pthread_cond_broadcast(&gpu_left);
    pthread_mutex_unlock(&gpu_lock);
}

size_t *pretend_used(int d)
{
    return &used[d];
}

static void *work(void *of)
{
    struct stream *s = of;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->first)
            pthread_cond_wait(&s->changed, &s->lock);
        struct operation *o = s->first;
        s->busy = 1;
        pthread_mutex_unlock(&s->lock);
        o->run(o->of);
        pthread_mutex_lock(&s->lock);
        s->first = o->next;
        s->busy = 0;
        pthread_cond_broadcast(&s->changed);
        free(o);
    }
    return NULL;
}

int cuStreamCreate(struct stream **made, unsigned flags)
{
    struct stream *s = calloc(1, sizeof *s);
    pthread_t t;
    (void)flags;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    pthread_create(&t, NULL, work, s);
    pthread_detach(t);
    *made = s;
    return 0;
}

static struct stream *stream_of(struct stream *s)
{
    if (s)
        return s;
    pthread_mutex_lock(&lock);
    struct stream **d = &default_streams[pretend_device()];
    if (!*d)
        cuStreamCreate(d, 0);
    pthread_mutex_unlock(&lock);
    return *d;
}

void pretend_enqueue(struct stream *s, void (*run)(void *), void *of)
{
    struct operation *o = calloc(1, sizeof *o);
    *o = (struct operation){NULL, run, of};
    s = stream_of(s);
    pthread_mutex_lock(&s->lock);
    if (s->first)
        s->last->next = o;
    else
        s->first = o;
    s->last = o;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

int cuStreamQuery(struct stream *s)
{
    s = stream_of(s);
    pthread_mutex_lock(&s->lock);
    int code = s->first ? NOT_READY : 0;
    pthread_mutex_unlock(&s->lock);
    return code;
}

int cuStreamSynchronize(struct stream *s)
{
    s = stream_of(s);
    pthread_mutex_lock(&s->lock);
    while (s->first)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return 0;
}

int cuStreamDestroy_v2(struct stream *s)
{
    return cuStreamSynchronize(s);
}

/* Streams whose pointer is odd are captured. */
int cuStreamIsCapturing(struct stream *s, int *status)
{
    *status = (uintptr_t)s & 1;
    return 0;
}

int cuEventCreate(struct event **e, unsigned flags)
{
    (void)flags;
    *e = calloc(1, sizeof **e);
    pthread_mutex_init(&(*e)->lock, NULL);
    pthread_cond_init(&(*e)->changed, NULL);
    return 0;
}

struct mark {
    struct event *event;
    uint64_t number;
};

static void reach(void *of)
{
    struct mark *m = of;
    pthread_mutex_lock(&m->event->lock);
    clock_gettime(CLOCK_MONOTONIC, &m->event->at);
    m->event->reached = m->number;
    pthread_cond_broadcast(&m->event->changed);
    pthread_mutex_unlock(&m->event->lock);
    free(m);
}

static void await(void *of)
{
    struct mark *m = of;
    pthread_mutex_lock(&m->event->lock);
    while (m->event->reached < m->number)
        pthread_cond_wait(&m->event->changed, &m->event->lock);
    pthread_mutex_unlock(&m->event->lock);
    free(m);
}

static struct mark *mark_of(struct event *e, int more)
{
    struct mark *m = calloc(1, sizeof *m);
    pthread_mutex_lock(&e->lock);
    e->recorded += (uint64_t)more;
    *m = (struct mark){e, e->recorded};
    pthread_mutex_unlock(&e->lock);
    return m;
}

int cuEventRecord(struct event *e, struct stream *s)
{
    pretend_enqueue(s, reach, mark_of(e, 1));
    return 0;
}

int cuStreamWaitEvent(struct stream *s, struct event *e, unsigned flags)
{
    (void)flags;
    pretend_enqueue(s, await, mark_of(e, 0));
    return 0;
}

int cuEventQuery(struct event *e)
{
    pthread_mutex_lock(&e->lock);
    int code = e->reached == e->recorded ? 0 : NOT_READY;
    pthread_mutex_unlock(&e->lock);
    return code;
}

int cuEventElapsedTime(float *ms, struct event *a, struct event *b)
{
    *ms = (float)((double)(b->at.tv_sec - a->at.tv_sec) * 1e3 +
                  (double)(b->at.tv_nsec - a->at.tv_nsec) * 1e-6);
    return 0;
}

int cuCtxGetDevice(int *d)
{
    *d = pretend_device();
    return 0;
}

/* A context is its device and one. */
int cuCtxGetCurrent(void **c)
{
    *c = (void *)(uintptr_t)(pretend_device() + 1);
    return 0;
}

int cuCtxSetCurrent(void *c)
{
    device = (int)(uintptr_t)c - 1;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **c, int d)
{
    *c = (void *)(uintptr_t)(d + 1);
    return 0;
}

int cuDeviceGetUuid(unsigned char *uuid, int d)
{
    memset(uuid, d, 16);
    return 0;
}

int cuMemGetInfo_v2(size_t *free_B, size_t *all)
{
    const char *mib = getenv("PRETEND_MEMORY_MIB");
    *all = (size_t)(mib ? atol(mib) : 8192) << 20;
    *free_B = *all > used[pretend_device()] ? *all - used[pretend_device()] : 0;
    return 0;
}

int cuMemAlloc_v2(uintptr_t *p, size_t bytes)
{
    *p = (uintptr_t)calloc(1, bytes);
    return *p ? 0 : 2;
}

int cuMemFree_v2(uintptr_t p)
{
    free((void *)p);
    return 0;
}

struct fill {
    unsigned *p, value;
    size_t n;
};

static void fill(void *of)
{
    struct fill *f = of;
    for (size_t i = 0; i < f->n; i++)
        f->p[i] = f->value;
    free(f);
}

int cuMemsetD32Async(uintptr_t p, unsigned value, size_t n, struct stream *s)
{
    struct fill *f = calloc(1, sizeof *f);
    *f = (struct fill){(unsigned *)p, value, n};
    pretend_enqueue(s, fill, f);
    return 0;
}

int cuMemcpyDtoH_v2(void *to, uintptr_t from, size_t bytes)
{
    memcpy(to, (void *)from, bytes);
    return 0;
}

struct copy {
    void *to;
    const void *from;
    size_t n;
};

static void copy(void *of)
{
    struct copy *c = of;
    memmove(c->to, c->from, c->n);
    free(c);
}

int cuMemcpyAsync(uintptr_t to, uintptr_t from, size_t bytes, struct stream *s)
{
    struct copy *c = calloc(1, sizeof *c);
    *c = (struct copy){(void *)to, (const void *)from, bytes};
    pretend_enqueue(s, copy, c);
    return 0;
}
