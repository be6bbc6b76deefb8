/* SPDX-License-Identifier: Apache-2.0
 *
 * gradsync's tuner plugin for NCCL 2.22 and later
 * (NCCL_TUNER_PLUGIN=/path/libnccl-tuner-gradsync.so). It changes a call only if GRADSYNC_TRIAL
 * names the file of a trial (trial_config.h, trial.h). A file with an error is refused as a whole,
 * in one line on stderr, and the job continues without it. No function returns an error to NCCL,
 * because that would fail the collective.
 */
#include "nccl_tuner/choice.h"
#include "nccl_tuner/nccl_abi.h"
#include "nccl_tuner/trial.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the profiler ----
 *
 * The profiler half of the plugin (NCCL_PROFILER_PLUGIN, the same file): tells the tuner half which
 * algorithm, protocol and channels NCCL really ran, and which calls went into a CUDA graph. It does
 * nothing unless GRADSYNC_TRIAL is set.
 */

/* What the profiler knows of one communicator on one rank; `comm` is what the tuner knows of it. */
struct observer {
    struct comm *comm; /* NULL: the tuner half has no use for it, or has ended */
    bool ended;        /* the profiler half has ended */
};

/* pair: as choice_taken() numbers them; channels 0: NCCL does not report them. */
static void take_ran(struct comm *c, int pair, int channels);
static void take_captured(struct comm *c);

/* In static TLS, so that the plugin needs libc alone. */
static _Thread_local struct observer *pending __attribute__((tls_model("initial-exec")));

/* The observer of the communicator that this thread is creating; NULL: NCCL loaded no profiler. */
static struct observer *observer_pending(void)
{
    struct observer *o = pending;
    pending = NULL;
    return o;
}

/* The tuner half no longer listens. NCCL ends the two halves of a communicator in an order of its
 * own; the second one frees. */
static void observer_leave(struct observer *o)
{
    if (o && o->ended)
        free(o);
    else if (o)
        o->comm = NULL;
}

static int profiler_finalize(void *context)
{
    struct observer *o = context;
    if (pending == o)
        pending = NULL;
    if (o && o->comm)
        o->ended = true;
    else
        free(o);
    return NCCL_SUCCESS;
}

static int profiler_init(void **context, int *events)
{
    const char *trial = getenv("GRADSYNC_TRIAL");
    *context = pending = trial && *trial ? calloc(1, sizeof *pending) : NULL;
    *events = *context ? NCCL_EVENT_COLL : 0;
    return NCCL_SUCCESS;
}

static int profiler_init_v4(void **context, int *events, const char *comm_name, uint64_t comm,
                            int nodes, int ranks, int rank, nccl_logger log)
{
    (void)comm_name, (void)comm, (void)nodes, (void)ranks, (void)rank, (void)log;
    return profiler_init(context, events);
}

static int profiler_init_v5(void **context, uint64_t comm, int *events, const char *comm_name,
                            int nodes, int ranks, int rank, nccl_logger log)
{
    return profiler_init_v4(context, events, comm_name, comm, nodes, ranks, rank, log);
}

/* ---- events ---- */

static void ran(void *context, const char *algo, const char *proto, int channels)
{
    const struct observer *o = context;
    int a = algo ? choice_algo(algo) : -1, p = proto ? choice_proto(proto) : -1;
    if (o && o->comm && a >= 0 && p >= 0)
        take_ran(o->comm, a * NCCL_PROTOS + p, channels);
}

#define START(version, coll, ctas)                                                                 \
    static int start_v##version(void *context, void **handle, struct nccl_event_old *e)            \
    {                                                                                              \
        *handle = e->type == NCCL_EVENT_GROUP ? context : NULL;                                    \
        if (e->type == NCCL_EVENT_COLL)                                                            \
            ran(context, e->coll.algo, e->coll.proto, ctas);                                       \
        return NCCL_SUCCESS;                                                                       \
    }
START(2, old.v2, 0)
START(3, old.v3, 0)
START(4, v4, e->v4.channels)

static int start_v5(void *context, void **handle, struct nccl_event_v5 *e)
{
    const struct observer *o = context;
    *handle = NULL;
    if (e->type == NCCL_EVENT_COLL)
        ran(context, e->coll.algo, e->coll.proto, e->coll.channels);
    else if (e->type == NCCL_EVENT_COLL_API && e->api.captured && o && o->comm)
        take_captured(o->comm);
    return NCCL_SUCCESS;
}

static int stop(void *handle)
{
    (void)handle;
    return NCCL_SUCCESS;
}

static int record(void *handle, int state, void *values)
{
    (void)handle, (void)state, (void)values;
    return NCCL_SUCCESS;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT extern const struct nccl_profiler_v2 ncclProfiler_v2, ncclProfiler_v3;
EXPORT extern const struct nccl_profiler_v4 ncclProfiler_v4;
EXPORT extern const struct nccl_profiler_v5 ncclProfiler_v5;

const struct nccl_profiler_v2 ncclProfiler_v2 = {"gradsync", profiler_init, start_v2,
                                                 stop,       record,        profiler_finalize};
const struct nccl_profiler_v2 ncclProfiler_v3 = {"gradsync", profiler_init, start_v3,
                                                 stop,       record,        profiler_finalize};
const struct nccl_profiler_v4 ncclProfiler_v4 = {"gradsync", profiler_init_v4, start_v4,
                                                 stop,       record,           profiler_finalize};
const struct nccl_profiler_v5 ncclProfiler_v5 = {"gradsync", profiler_init_v5, start_v5,
                                                 stop,       record,           profiler_finalize};

/* ---- the tuner ---- */

/* A communicator on one rank. NCCL makes its calls one after the other, but from threads of its
 * choice. The lock keeps them apart from the end of the process. */
struct comm {
    pthread_mutex_t lock;
    struct comm *next;
    int ranks, nodes;
    bool on_trial;
    struct trial trial;
    struct observer *observer; /* NULL: none */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct comm *all;
static struct trial_config trial_config;
static bool has_trial;
static pid_t loaded_by; /* a forked child is not a rank */

/* ---- files ---- */

static void load(void)
{
    char why[4600];
    const char *path = getenv("GRADSYNC_TRIAL");
    loaded_by = getpid();
    if (path && *path) {
        has_trial = trial_config_read(&trial_config, path, why, sizeof why);
        if (!has_trial)
            trial_complain("gradsync tuner", why, "there is no trial");
    }
}

/* NCCL before 2.22 loads the plugin and then has no use for it. This line tells gradsync. */
__attribute__((constructor)) static void at_load(void)
{
    struct journal j;
    pthread_once(&once, load);
    if (!has_trial || !journal_open(&j, trial_config.out, "loaded"))
        return;
    journal_line(&j, "{\"type\":\"loaded\",\"nccl\":%d}", nccl_version());
    journal_close(&j);
}

/* ---- communicators ---- */

static void begin_trial(struct comm *c, const char *id, int abi)
{
    char why[4600];
    if (c->ranks < 2 || !has_trial)
        return;
    c->on_trial =
        trial_begin(&c->trial, &trial_config, id, (size_t)c->ranks, (size_t)c->nodes, abi);
    if (c->on_trial)
        return;
    snprintf(why, sizeof why, "%s: cannot be written to: %s", trial_config.out, strerror(errno));
    trial_complain("gradsync tuner", why, "there is no trial");
}

static void take_ran(struct comm *c, int pair, int channels)
{
    pthread_mutex_lock(&c->lock);
    if (c->on_trial)
        trial_ran(&c->trial, pair, channels);
    pthread_mutex_unlock(&c->lock);
}

static void take_captured(struct comm *c)
{
    pthread_mutex_lock(&c->lock);
    if (c->on_trial)
        trial_captured(&c->trial);
    pthread_mutex_unlock(&c->lock);
}

static int tuner_init(void **context, const char *id, size_t ranks, size_t nodes, int abi)
{
    pthread_once(&once, load);
    struct comm *c = calloc(1, sizeof *c);
    *context = c;
    if (!c)
        return NCCL_SUCCESS;
    pthread_mutex_init(&c->lock, NULL);
    c->ranks = (int)ranks;
    c->nodes = (int)nodes;
    begin_trial(c, id, abi);
    c->observer = observer_pending();
    if (c->observer)
        *c->observer = (struct observer){c, false};
    pthread_mutex_lock(&all_lock);
    c->next = all;
    all = c;
    pthread_mutex_unlock(&all_lock);
    return NCCL_SUCCESS;
}

static int init_unnamed(void **context, size_t ranks, size_t nodes, int abi)
{
    char id[64];
    pthread_mutex_lock(&all_lock);
    trial_name(id, sizeof id, ranks, -1);
    pthread_mutex_unlock(&all_lock);
    return tuner_init(context, id, ranks, nodes, abi);
}

static int init_named(void **context, uint64_t comm, size_t ranks, size_t nodes, int abi)
{
    char id[32];
    snprintf(id, sizeof id, "%016llx", (unsigned long long)comm);
    return tuner_init(context, id, ranks, nodes, abi);
}

#define INIT_UNNAMED(version)                                                                      \
    static int tuner_init_v##version(size_t ranks, size_t nodes, nccl_logger log, void **context)  \
    {                                                                                              \
        (void)log;                                                                                 \
        return init_unnamed(context, ranks, nodes, version);                                       \
    }
#define INIT_NAMED(version)                                                                        \
    static int tuner_init_v##version(void **context, uint64_t comm, size_t ranks, size_t nodes,    \
                                     nccl_logger log, struct nccl_domains *domains,                \
                                     struct nccl_constants *constants)                             \
    {                                                                                              \
        (void)log, (void)domains, (void)constants;                                                 \
        return init_named(context, comm, ranks, nodes, version);                                   \
    }
INIT_UNNAMED(3)
INIT_UNNAMED(4)
INIT_NAMED(5)
INIT_NAMED(6)
INIT_NAMED(7)

static int get_v4(void *context, int func, size_t bytes, int pipe_ops, float **costs, int algos,
                  int protos, int reg_buff, int *channels)
{
    struct comm *c = context;
    if (!c || !costs || !channels || algos < 1 || protos < 1)
        return NCCL_SUCCESS;
    struct call call = {func, bytes, c->ranks, (float *)costs, algos, protos, channels};
    (void)pipe_ops, (void)reg_buff;
    pthread_mutex_lock(&c->lock);
    if (c->on_trial)
        trial_call(&c->trial, &call);
    pthread_mutex_unlock(&c->lock);
    return NCCL_SUCCESS;
}

static int get_v3(void *context, int func, size_t bytes, int pipe_ops, float **costs, int algos,
                  int protos, int *channels)
{
    return get_v4(context, func, bytes, pipe_ops, costs, algos, protos, -1, channels);
}

static int tuner_finalize(void *context)
{
    struct comm *c = context;
    pthread_mutex_lock(&all_lock);
    for (struct comm **at = &all; c && *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    pthread_mutex_unlock(&all_lock);
    if (c && c->on_trial)
        trial_end(&c->trial);
    if (c)
        observer_leave(c->observer);
    if (c)
        pthread_mutex_destroy(&c->lock);
    free(c);
    return NCCL_SUCCESS;
}

/* Most programs end without destroying their communicators. A thread may still be in a call. */
__attribute__((destructor)) static void at_exit(void)
{
    if (loaded_by != getpid() || pthread_mutex_trylock(&all_lock))
        return;
    for (struct comm *c = all; c; c = c->next)
        if (c->on_trial && !pthread_mutex_trylock(&c->lock)) {
            trial_write_end(&c->trial);
            c->on_trial = false;
            pthread_mutex_unlock(&c->lock);
        }
    pthread_mutex_unlock(&all_lock);
}

EXPORT extern const struct nccl_tuner_v3 ncclTunerPlugin_v3;
EXPORT extern const struct nccl_tuner_v4 ncclTunerPlugin_v4;
EXPORT extern const struct nccl_tuner_v5 ncclTunerPlugin_v5;
EXPORT extern const struct nccl_tuner_v6 ncclTunerPlugin_v6, ncclTunerPlugin_v7;

const struct nccl_tuner_v3 ncclTunerPlugin_v3 = {"gradsync", tuner_init_v3, get_v3, tuner_finalize};
const struct nccl_tuner_v4 ncclTunerPlugin_v4 = {"gradsync", tuner_init_v4, get_v4, tuner_finalize};
const struct nccl_tuner_v5 ncclTunerPlugin_v5 = {"gradsync", tuner_init_v5, get_v4, tuner_finalize};
const struct nccl_tuner_v6 ncclTunerPlugin_v6 = {"gradsync", tuner_init_v6, get_v4, tuner_finalize,
                                                 NULL};
const struct nccl_tuner_v6 ncclTunerPlugin_v7 = {"gradsync", tuner_init_v7, get_v4, tuner_finalize,
                                                 NULL};
