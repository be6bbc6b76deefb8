/* SPDX-License-Identifier: Apache-2.0
 *
 * gradsync's tuner plugin for NCCL 2.22 and later
 * (NCCL_TUNER_PLUGIN=/path/libnccl-tuner-gradsync.so). It changes a call only if GRADSYNC_TRIAL names the
 * file of a trial (trial_config.h, trial.h). A file with an error is refused as a whole, in one line on
 * stderr, and the job continues without it. No function returns an error to NCCL, because that would
 * fail the collective.
 */
#include "nccl_tuner/nccl_abi.h"
#include "nccl_tuner/nccl_version.h"
#include "nccl_tuner/profiler.h"
#include "nccl_tuner/trial.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    struct line l = {0};
    pthread_once(&once, load);
    if (!has_trial || !journal_open(&j, trial_config.out, "loaded"))
        return;
    line_add(&l, "{\"type\":\"loaded\",\"nccl\":%d}", nccl_version());
    journal_line(&j, &l);
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

static void take_ran(void *comm, int pair, int channels)
{
    struct comm *c = comm;
    pthread_mutex_lock(&c->lock);
    if (c->on_trial)
        trial_ran(&c->trial, pair, channels);
    pthread_mutex_unlock(&c->lock);
}

static void take_captured(void *comm)
{
    struct comm *c = comm;
    pthread_mutex_lock(&c->lock);
    if (c->on_trial)
        trial_captured(&c->trial);
    pthread_mutex_unlock(&c->lock);
}

static int init(void **context, const char *id, size_t ranks, size_t nodes, int abi)
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
        *c->observer = (struct observer){c, take_ran, take_captured, false};
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
    return init(context, id, ranks, nodes, abi);
}

static int init_v3(size_t ranks, size_t nodes, nccl_logger log, void **context)
{
    (void)log;
    return init_unnamed(context, ranks, nodes, 3);
}

static int init_v4(size_t ranks, size_t nodes, nccl_logger log, void **context)
{
    (void)log;
    return init_unnamed(context, ranks, nodes, 4);
}

static int init_named(void **context, uint64_t comm, size_t ranks, size_t nodes, int abi)
{
    char id[32];
    snprintf(id, sizeof id, "%016llx", (unsigned long long)comm);
    return init(context, id, ranks, nodes, abi);
}

static int init_v5(void **context, uint64_t comm, size_t ranks, size_t nodes, nccl_logger log,
                   struct nccl_domains *domains, struct nccl_constants *constants)
{
    (void)log, (void)domains, (void)constants;
    return init_named(context, comm, ranks, nodes, 5);
}

static int init_v6(void **context, uint64_t comm, size_t ranks, size_t nodes, nccl_logger log,
                   struct nccl_domains *domains, struct nccl_constants *constants)
{
    (void)log, (void)domains, (void)constants;
    return init_named(context, comm, ranks, nodes, 6);
}

static int init_v7(void **context, uint64_t comm, size_t ranks, size_t nodes, nccl_logger log,
                   struct nccl_domains *domains, struct nccl_constants *constants)
{
    (void)log, (void)domains, (void)constants;
    return init_named(context, comm, ranks, nodes, 7);
}

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

static int finalize(void *context)
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

#define EXPORT __attribute__((visibility("default")))

EXPORT extern const struct nccl_tuner_v3 ncclTunerPlugin_v3;
EXPORT extern const struct nccl_tuner_v4 ncclTunerPlugin_v4;
EXPORT extern const struct nccl_tuner_v5 ncclTunerPlugin_v5;
EXPORT extern const struct nccl_tuner_v6 ncclTunerPlugin_v6, ncclTunerPlugin_v7;

const struct nccl_tuner_v3 ncclTunerPlugin_v3 = {"gradsync", init_v3, get_v3, finalize};
const struct nccl_tuner_v4 ncclTunerPlugin_v4 = {"gradsync", init_v4, get_v4, finalize};
const struct nccl_tuner_v5 ncclTunerPlugin_v5 = {"gradsync", init_v5, get_v4, finalize};
const struct nccl_tuner_v6 ncclTunerPlugin_v6 = {"gradsync", init_v6, get_v4, finalize, NULL};
const struct nccl_tuner_v6 ncclTunerPlugin_v7 = {"gradsync", init_v7, get_v4, finalize, NULL};
