/* SPDX-License-Identifier: Apache-2.0
 *
 * NCCL communicators, one for each config, several alive at once.
 *
 * NCCL reads NCCL_ALGO and NCCL_PROTO when it creates a communicator. They are set (auto: unset)
 * for this call and then restored. CTAs go through ncclConfig_t. NCCL's
 * log of one operation tells which algorithm, protocol and number of CTAs ran.
 *
 * The second copy of a baseline has communicators of its own. Two communicators of one config can
 * differ in speed for as long as they live, and the A/A floor shows that only if the copies do not
 * share one. Each launch creates all of them anew, in another order (plan/plan.h). So their difference
 * varies between launches, and the interval, which is made from that variance, contains it. The
 * groups of one launch share its communicators, so verdicts at different sizes err together: ten
 * sizes of one run are not ten replicates.
 *
 * cuda_abort() may be called from another thread. A thread in comm_wait() notices it at its next
 * poll. A thread that hangs inside NCCL returns when the other thread calls ncclCommAbort.
 */
#pragma once

#include "common/cuda_gpu.h"

#include <nccl.h>
#include <string.h>

struct scoped_env {
    const char *name;
    char *before; /* NULL: it was not set */
};

#define COMMS_MAX 64

enum nccl_algorithm {
    NCCL_AUTO,
    NCCL_RING,
    NCCL_TREE,
    NCCL_COLLNET_DIRECT,
    NCCL_COLLNET_CHAIN,
    NCCL_NVLS,
    NCCL_NVLS_TREE,
    NCCL_PAT
};
enum nccl_protocol { NCCL_ANY, NCCL_LL, NCCL_LL128, NCCL_SIMPLE };

struct comm_key {
    int algorithm, protocol, ctas; /* 0: NCCL's choice */
    int copy; /* host->copy: the second baseline has communicators of its own */
};

struct comm {
    struct comm_key key;
    _Atomic(ncclComm_t) nccl; /* NULL once aborted */
    double init_s;
};

/* NCCL's log of one operation, in memory. */
struct comm_log {
    int fd; /* -1: no log is taken */
    char path[64];
    struct scoped_env variables[3];
};

struct comms {
    struct gpu *gpu;
    struct comm comm[COMMS_MAX];
    size_t n;
    int version; /* ncclGetVersion: 22803 is 2.28.3 */
    int hosts;   /* comms_pretend */
    struct comm_log log;
};

/* How NCCL ran one operation, from its log. */
struct comm_ran {
    bool known;
    /* "RING", "LL128"; a kernel's name and "" */
    char algorithm[32], protocol[32];
    int ctas;
};

void comms_close(struct comms *c);

/* Makes NCCL believe that the ranks are spread evenly over `hosts` hosts. Between them it uses its
 * network (sockets, if there is no other). NCCL reads NCCL_HOSTID once per process, so a second
 * call with another number returns WL_SKIP. 1: the real hosts; at most the number of ranks. */
enum wl_status comms_pretend(struct comms *c, int hosts);

/* The communicator of a key, created at its first use. Collective. */
enum wl_status comm_get(struct comms *c, struct comm_key key, struct comm **out);

/* Notes which of this process's communicators a cell uses, counted from 1 in the order of creation,
 * and how long its creation took, in ms. */
void comm_note(const struct comms *c, const struct comm *comm);

/* Status of an NCCL call. WL_SKIP: NCCL refuses the request. `why` gets the reason with NCCL's last
 * error message. */
enum wl_status comm_judge(struct comms *c, struct comm *comm, ncclResult_t result, const char *what,
                          char *why, size_t n);
/* The same; calls host->fail() with the reason. */
enum wl_status comm_try(struct comms *c, struct comm *comm, ncclResult_t result, const char *what);

/* Has the event happened? WL_RETRY: not yet. WL_FAIL: a CUDA error, an asynchronous error of the
 * communicator (a dead peer), or an abort. The last two are looked at in some polls only; `nth`
 * counts the polls. */
enum wl_status comm_poll(struct comms *c, struct comm *comm, cudaEvent_t event, unsigned nth);
/* Polls until the event has happened. */
enum wl_status comm_wait(struct comms *c, struct comm *comm, cudaEvent_t event);

/* Waits for all that gpu.stream holds now; `event` marks its end. */
enum wl_status comm_finish(struct comms *c, struct comm *comm, cudaEvent_t event);

/* Queues one small all-reduce or all-gather (gpu.align); it ends on all ranks at about the same
 * time. */
enum wl_status comm_align(struct comms *c, struct comm *comm);

/* Takes NCCL's log between begin and end; all ranks get the result. Collective. */
void comm_log_begin(struct comms *c);
struct comm_ran comm_log_end(struct comms *c);

/* Did NCCL run the requested algorithm and protocol? Notes what ran ("ran") in the
 * recording. WL_SKIP with the reason: something else ran. */
enum wl_status comm_prove(struct comms *c, const struct comm *comm, const struct comm_ran *ran);

/* Opens the GPU, NCCL and the events that time a sample, for every GPU backend. Notes the GPU and
 * NCCL in the recording. */

/* The caller zeroes both structs. Collective. Call cuda_close() even after a failure. */
enum wl_status cuda_open(struct gpu *g, struct comms *c, const struct wl_host *host);
/* Call comms_close() before freeing a buffer that a communicator uses, then cuda_close(). */
void cuda_close(struct gpu *g, struct comms *c);

/* Call it from another thread. The waiting thread then ends the communicators itself. If it has not
 * within a grace period, it hangs in NCCL, and cuda_abort() ends them. */
void cuda_abort(struct gpu *g, struct comms *c);
