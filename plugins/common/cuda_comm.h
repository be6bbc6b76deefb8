/* SPDX-License-Identifier: Apache-2.0
 *
 * NCCL communicators, one a config, several alive at once. NCCL reads NCCL_ALGO and NCCL_PROTO when
 * a communicator is made, so they are set (or unset, for auto) around its making and put back; CTAs
 * go through ncclConfig_t. What really ran is taken from NCCL's own log of one operation.
 *
 * The second copy of a baseline has communicators of its own. Two communicators of one config can
 * differ in speed for as long as they live, and the A/A floor shows that only if the copies do not
 * share one. Each launch creates all of them anew, in another order (order.h). So their difference
 * varies between launches, and the interval, which is made from that variance, contains it. The
 * groups of one launch share its communicators, so verdicts at different sizes err together: ten
 * sizes of one run are not ten replicates.
 *
 * Aborting: comms_abort() may come from another thread. A thread in comm_wait() sees it within a
 * poll; one that is stuck inside NCCL is freed by ncclCommAbort from the other thread.
 */
#ifndef CUDA_COMM_H
#define CUDA_COMM_H

#include "common/cuda_gpu.h"
#include "common/cuda_scoped_env.h"

#include <nccl.h>

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

/* NCCL's log, kept in memory while one operation is watched. */
struct comm_log {
    int fd; /* -1: not watched */
    char path[64];
    struct scoped_env variables[3];
};

struct comms {
    struct gpu *gpu;
    struct comm comm[COMMS_MAX];
    size_t n;
    int version;   /* ncclGetVersion: 22803 is 2.28.3 */
    void *library; /* to look newer functions up in */
    int hosts;     /* comms_pretend */
    void (*reset_log)(void);
    struct comm_log log;
};

/* What one operation was run with, by NCCL's log. */
struct comm_ran {
    bool known;
    char algorithm[32], protocol[32]; /* "RING", "LL128"; a symmetric kernel's name and "" */
    int ctas;
};

/* WL_SKIP: this NCCL is too old. */
enum wl_status comms_open(struct comms *c, struct gpu *gpu);
void comms_close(struct comms *c);
void comms_abort(struct comms *c);

/* Spreads the ranks over so many make-believe hosts, evenly: between them NCCL goes through its
 * network (sockets, where there is no other). NCCL reads NCCL_HOSTID once a process, so a second
 * call with another number is WL_SKIP. 1: the hosts there are; at most the ranks. */
enum wl_status comms_pretend(struct comms *c, int hosts);

/* The communicator of a key, made at its first use. Collective. */
enum wl_status comm_get(struct comms *c, struct comm_key key, struct comm **out);

/* Notes which of this process's communicators a cell uses, counted from 1 in the order of creation,
 * and how long its creation took, in ms. */
void comm_note(const struct comms *c, const struct comm *comm);

/* What an NCCL call made of it: WL_SKIP where NCCL refuses what it was asked for. `why` gets the
 * reason, with NCCL's own last words. */
enum wl_status comm_judge(struct comms *c, struct comm *comm, ncclResult_t result, const char *what,
                          char *why, size_t n);
/* The same, told to host->fail(). */
enum wl_status comm_try(struct comms *c, struct comm *comm, ncclResult_t result, const char *what);

/* Has the event happened? WL_RETRY: not yet. A communicator's asynchronous error (a dead peer), an
 * abort (both looked at now and then: `nth` counts the polls) or a CUDA error is WL_FAIL. */
enum wl_status comm_poll(struct comms *c, struct comm *comm, cudaEvent_t event, unsigned nth);
/* Polls until it has. `feed` is called now and then, when not NULL. */
enum wl_status comm_wait(struct comms *c, struct comm *comm, cudaEvent_t event,
                         enum wl_status (*feed)(void *ctx), void *ctx);

/* Queues one 8-byte operation (gpu.align), which ranks leave together. */
enum wl_status comm_align(struct comms *c, struct comm *comm);

/* NCCL's log between begin and end, told to all ranks. Collective. */
void comm_log_begin(struct comms *c);
struct comm_ran comm_log_end(struct comms *c);

/* Did what was asked for run? Notes it ("ran", from NCCL's log of one operation) in the recording;
 * WL_SKIP with the reason when something else ran. */
enum wl_status comm_prove(struct comms *c, const struct comm *comm, const struct comm_ran *ran);

/* A function of newer NCCLs, or NULL. */
void *comm_symbol(const struct comms *c, const char *name);

#endif
