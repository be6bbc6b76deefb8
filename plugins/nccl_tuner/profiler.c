/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_tuner/profiler.h"

#include "nccl_tuner/choice.h"
#include "nccl_tuner/profiler_abi.h"

#include <stdlib.h>

/* In static TLS, so that the plugin needs libc alone. */
static _Thread_local struct observer *pending __attribute__((tls_model("initial-exec")));

struct observer *observer_pending(void)
{
    struct observer *o = pending;
    pending = NULL;
    return o;
}

/* NCCL ends the two halves of a communicator in an order of its own; the second one frees. */
void observer_leave(struct observer *o)
{
    if (o && o->ended)
        free(o);
    else if (o)
        o->comm = NULL;
}

static int finalize(void *context)
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

static int init(void **context, int *events)
{
    const char *trial = getenv("GRADSYNC_TRIAL");
    *context = pending = trial && *trial ? calloc(1, sizeof *pending) : NULL;
    *events = *context ? NCCL_EVENT_COLL : 0;
    return NCCL_SUCCESS;
}

static int init_v4(void **context, int *events, const char *comm_name, uint64_t comm, int nodes,
                   int ranks, int rank, nccl_logger log)
{
    (void)comm_name, (void)comm, (void)nodes, (void)ranks, (void)rank, (void)log;
    return init(context, events);
}

static int init_v5(void **context, uint64_t comm, int *events, const char *comm_name, int nodes,
                   int ranks, int rank, nccl_logger log)
{
    return init_v4(context, events, comm_name, comm, nodes, ranks, rank, log);
}

/* ---- events ---- */

static void ran(void *context, const char *algo, const char *proto, int channels)
{
    const struct observer *o = context;
    int a = algo ? choice_algo(algo) : -1, p = proto ? choice_proto(proto) : -1;
    if (o && o->comm && a >= 0 && p >= 0)
        o->ran(o->comm, a * NCCL_PROTOS + p, channels);
}

static void *group_handle(void *context, uint64_t type)
{
    return type == NCCL_EVENT_GROUP ? context : NULL;
}

static int start_v2(void *context, void **handle, struct nccl_event_old *e)
{
    *handle = group_handle(context, e->type);
    if (e->type == NCCL_EVENT_COLL)
        ran(context, e->old.v2.algo, e->old.v2.proto, 0);
    return NCCL_SUCCESS;
}

static int start_v3(void *context, void **handle, struct nccl_event_old *e)
{
    *handle = group_handle(context, e->type);
    if (e->type == NCCL_EVENT_COLL)
        ran(context, e->old.v3.algo, e->old.v3.proto, 0);
    return NCCL_SUCCESS;
}

static int start_v4(void *context, void **handle, struct nccl_event_old *e)
{
    *handle = group_handle(context, e->type);
    if (e->type == NCCL_EVENT_COLL)
        ran(context, e->v4.algo, e->v4.proto, e->v4.channels);
    return NCCL_SUCCESS;
}

static int start_v5(void *context, void **handle, struct nccl_event_v5 *e)
{
    const struct observer *o = context;
    *handle = NULL;
    if (e->type == NCCL_EVENT_COLL)
        ran(context, e->coll.algo, e->coll.proto, e->coll.channels);
    else if (e->type == NCCL_EVENT_COLL_API && e->api.captured && o && o->comm)
        o->captured(o->comm);
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

const struct nccl_profiler_v2 ncclProfiler_v2 = {"gradsync", init,   start_v2,
                                                 stop,       record, finalize};
const struct nccl_profiler_v2 ncclProfiler_v3 = {"gradsync", init,   start_v3,
                                                 stop,       record, finalize};
const struct nccl_profiler_v4 ncclProfiler_v4 = {"gradsync", init_v4, start_v4,
                                                 stop,       record,  finalize};
const struct nccl_profiler_v5 ncclProfiler_v5 = {"gradsync", init_v5, start_v5,
                                                 stop,       record,  finalize};
