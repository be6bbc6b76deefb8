/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine: an object for LD_PRELOAD that compares settings of communication inside a running job. This
 * page is its contract with gradsync (runner/job/) and with the job.
 *
 * NEEDS   glibc 2.28. From 2.35 on, an object for LD_AUDIT (audit.c) also shows it what a program binds by
 *         dlsym (JAX). NCCL from 2.14 on, as a shared object; CUDA's driver; Open MPI from 4.0 on. None of
 *         them has to be there: the engine finds their functions when the job calls them.
 *
 * ARMS    An arm is what a visit does with the job's collectives. The first arm is `auto`.
 *           auto            nothing is changed
 *           none half one   collectives of 64 KiB or more are left out, halved, cut to one element. Results
 *                           are then worthless. What follows from them may not terminate
 *           copy            every call goes to a private copy of NCCL: another instance of the library, with
 *                           variables of its own, opened from a copy of its file. Results are right
 *           mpi             the same for Open MPI: a communicator whose algorithm is another one
 *         One arm holds for all communicators and sizes of a visit, since two NCCLs are not ordered against each
 *         other. At a switch the first call of each communicator waits, on the GPU, until the calls of the old
 *         arm are complete.
 *
 * CALLS   what happens to NCCL's functions while an arm of kind copy is visited:
 *           shadowed   AllReduce Reduce Broadcast Bcast AllGather ReduceScatter AlltoAll Gather Scatter Send Recv,
 *                      GroupStart GroupEnd. CommInitRank, CommInitRankConfig, CommInitRankScalable,
 *                      CommInitAll and CommSplit make a communicator in each copy (a shadow); CommDestroy
 *                      and CommAbort end it. RedOpCreatePreMulSum makes the operation in each shadow
 *           passed on  all others, to the job's own NCCL: registered buffers, windows and MemAlloc have no
 *                      counterpart in a copy, which is why a copy with nothing changed is compared as well
 *           refused    CommShrink and CommGrow: the communicator has no shadows, so no copy is visited any more.
 *                      A call that is captured in a CUDA graph ends all visits: a graph holds its NCCL
 *
 * LANE    A rank of the job: a GPU in a process, or a process of MPI. A process may have several (JAX). The calls of
 *         each communicator are a sequence, in which a step is found (sequence.h). The one with the most bytes
 *         a step drives the lane: its steps count.
 *
 * STATES  of a lane, in their order:
 *           LEARN  no step is known
 *           WARM   the driver's step is followed for some steps
 *           RUN    blocks of visits: a block visits every arm once in random order, `auto` twice. A visit is
 *                  so many steps of the driver. Other calls (a log, an evaluation) interrupt only its
 *                  measurement, which then ends or begins anew; the arm stays to the end of the visit. After a
 *                  block in which more than half of the visits were interrupted, visits get half the steps
 *           OVER   the blocks are over: the job goes on in `auto`, or in the arm that is kept
 *           OFF    the lanes could not agree: the lane keeps its arm
 *         The host may be a whole visit ahead of its GPU, and NCCL's threads already wait for the collectives that
 *         it has sent: those of the next arm may take processors from this one. So the first call of a visit
 *         waits until the GPU has passed the last one, without the lock, since the call of another GPU of this
 *         process may be what it waits for
 *         All lanes must change their arm at the same call, also if only some of them see a call. So an arm changes only
 *         at the driver's steps, by their number, and after an agreement.
 *
 * AGREEMENT  on what the sequence of calls does not tell. A question has a key, and every lane asks it at the same
 *         call. The first one answers: it creates the symbolic link OUT/agree/KEY, whose target is the
 *         answer. This is one atomic operation, also on a shared file system. A lane that gets no answer goes OFF.
 *
 * SHADOWS are made where the job makes its communicator, since exactly its ranks meet there. Its name is a hash of its
 *         ncclUniqueId. Each rank puts OUT/agree/NAME.here.RANK, with the number of copies for which its
 *         GPU has memory, and waits for the others; if one does not come within `wait_s`, there are no shadows. Then, for each arm: make
 *         the shadow, not blocking, within `wait_s`; prove known sums of three sizes on buffers of its own; put
 *         OUT/agree/NAME.ARM.RANK, "ok" or the reason; and wait for those of the others. Where one is not ok
 *         there is OUT/agree/dead.ARM, with "rank R: REASON", and the arm is not visited.
 *
 * FAULTS  of an arm, each known by the name of the arm, the rank and the cause:
 *           it cannot be loaded, initialised or connected, has no memory, gives wrong sums, hangs in its proof:
 *               the arm is dead; the job goes on
 *           it hangs in a visit: the job hangs. gradsync ends the launch at its deadline
 *           a lane does not come: OFF, and the reason in the journal
 *
 * CONFIG  the file that GRADSYNC_ENGINE names: lines "key = value" and of arms; '#' begins a comment. Equal on
 *         all ranks.
 *           out = FOLDER     absolute, on a file system that all ranks see
 *           seed = 1         of the order of the arms
 *           visit_ms = 500   a visit has as many steps as take so long, at least 2, or 4 if a step
 *                            takes less than 0.5 s; the first is not counted
 *           seconds = 0      visits end with the block in which this time is over; 0: no limit
 *           calls = 0        collectives of a step; 0: find them
 *           bytes_least = 0, bytes_most = 0   of a step that is found; 0: any number
 *           wait_s = 30      longest wait for other ranks, for a shadow, and for the arms
 *           margin_MiB = 2048  memory of a GPU that copies leave free
 *           percent = 100    of a GPU's memory: copies take no more
 *           later = 0        1: the arms are not here but in OUT/arms, which gradsync writes (by rename) once
 *                            it has read how the first communicator is linked. Ranks wait for it up to wait_s
 *           keep = 0         1: the job's results are wanted: no arm may have a `part`, and an arm can be kept
 *           arm ID           begins an arm; ID has letters, digits, '-' and '_', up to 31. Lines of it:
 *             part none|half|one
 *             copy [FILE]        a copy of FILE, else of the library that the job loaded
 *             set NAME=VALUE     in the copy's environment alone; the rest of the line
 *             without NAME       the copy does not see it, not even from nccl.conf
 *             mpi CVAR=VALUE     a control variable of Open MPI, for this communicator alone
 *         OUT/leave may hold IDs, separated by white space, that are not visited any more. Lanes
 *         look at it after each block. With keep = 1 they look for OUT/keep, too: it holds
 *         the ID of the arm that all calls go by from then on. Visits are over, nothing is timed any more, and the
 *         shadows of other arms are ended as soon as their calls are complete.
 *
 * JOURNAL of each lane: JSON Lines in OUT/NAME.HOST.PID.N.jsonl, where NAME is the same on all lanes that agree;
 *         each line is appended with one write(2).
 *           comm      first: schema 2, file, rank (of the job, -1: unknown), comm (NAME), ranks (lanes that must
 *                     agree), library ("nccl" or "mpi"), nccl (its version), clock ("gpu" or "host": of
 *                     at_ns), host, gpu (UUID, ""), at_ns (CLOCK_MONOTONIC), unix_s
 *           made      a communicator: name, ranks, rank, devices; and of each arm: arm, ready, made_s, memory_B,
 *                     why (not ready)
 *           step      a step was found: number (from 1), call (of the driver), calls, bytes, equal (true: all its calls
 *                     are alike), hash
 *           seen      while no step is known, at most once a second: calls, bytes, others, other_B (as below)
 *           begin     visits begin, or have other steps or arms: step, steps (of a visit), block, arms [IDs]; bytes of a
 *                     step, of all communicators: step_B (collectives), large_B (those that an arm can leave
 *                     out), reduced_B (all-reduces), other_B (sends, receives, and calls that no arm leaves out);
 *                     step_s, before the first visit
 *           turn      arm, block: from here on calls go the way of the arm. If no visit follows, it hangs
 *           visit     step, block, visit, arm, copy (1: the second of auto), steps, calls, ran {"none": calls, ...},
 *                     at_ns: the beginning of each step and of the step after the last. The first step still
 *                     runs calls of the arm before. It is not counted
 *           dropped   block, visit, arm, copy, step, call
 *           before    object: the library whose ncclAllReduce the job calls before NCCL's, such as a profiler's
 *           captured  call: a collective went into a CUDA graph (the first time)
 *           over      why, visits
 *           loaded    instead of all others, in loaded.HOST.PID.N.jsonl: has_cuda, has_nccl, has_mpi, alone; when a process
 *                     ends that made no communicator of two ranks
 *           end       calls, bytes, visits, at_ns. A killed program writes none
 *
 * AUDIT   The audit object has a namespace and a C library of its own. It looks up `gradsync_hooks`, exported
 *         here, and writes into it the address of NCCL's function wherever a binding takes one, and who bound it; the binding gets
 *         the engine's. A profiler that is preloaded or linked before NCCL is called as before in every arm but copies.
 *         Bindings of the engine and of copies stay.
 *
 * GRADSYNC_PRICE_ARM=none without GRADSYNC_ENGINE leaves out all large calls of the process, also those in CUDA
 * graphs. Calls before the first large reduction or gather are whole: they set the job up.
 */
#pragma once

#include "engine/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Collectives below this size decide what the job does next (is the loss finite?): they are never changed by a part. */
#define PART_LEAST 65536

enum engine_func {
    FUNC_BROADCAST,
    FUNC_REDUCE,
    FUNC_ALL_GATHER,
    FUNC_REDUCE_SCATTER,
    FUNC_ALL_REDUCE,
    FUNC_ALL_TO_ALL,
    FUNC_SEND_RECV /* of a group: one call */
};

/* A clock for the beginnings of steps, of a GPU. Marks have numbers, and there are two sets of them. */
struct lane_clock {
    void *ctx;
    void (*mark)(void *ctx, unsigned set, unsigned i); /* on the stream of this call */
    bool (*passed)(void *ctx, unsigned set, unsigned i);
    double (*between_ns)(void *ctx, unsigned set, unsigned i); /* from mark 0. < 0: failed */
};

/* What to do with a call. */
struct turn {
    size_t arm; /* index; 0: auto */
    enum engine_part part;
    bool switches; /* a visit ends here, and the GPU may still be at it (lane_passed) */
};

/* The elements that a part leaves of a call. */
static inline size_t engine_part_count(enum engine_part part, size_t count)
{
    return part == PART_ALL ? count : part == PART_HALF ? count / 2 : part == PART_ONE && count;
}

/* The engine's config; NULL: the engine changes nothing. */
const struct engine_config *engine_config(void);
/* Is there a config, or GRADSYNC_PRICE_ARM? */
bool engine_is_on(void);
/* How much of a call to communicate, by GRADSYNC_PRICE_ARM. */
enum engine_part engine_fixed(enum engine_func func, size_t bytes);
/* Waits for OUT/arms if the config says so. False: there are none, as reported. */
bool engine_arms(void);

/* One thread at a time for all functions of lanes. A lane exists to the end of the process. library: "nccl" or "mpi". */
struct lane;
struct lane_comm; /* a communicator of a lane */
/* clock NULL: the host's. */
struct lane *lane_new(const char *library, int nccl_version, const char *gpu_uuid,
                      const struct lane_clock *clock);
struct lane_comm *lane_comm_new(struct lane *l, int ranks, int rank);
void lane_comm_end(struct lane_comm *c);
/* The next call. inside: not the first one of a group, so that no step begins here. */
struct turn lane_call(struct lane_comm *c, enum engine_func func, size_t bytes, bool inside);
/* Bytes of a call that no arm leaves out. */
void lane_other(struct lane *l, size_t bytes);
void lane_captured(struct lane *l);
struct journal *lane_journal(struct lane *l);
void lane_write_end(struct lane *l);
/* Has the GPU passed the visit that ended last? For the thread that made its calls, beside others. */
bool lane_passed(const struct lane *l);
/* Visits are over, and no arm but that of the lane's calls is used again. */
bool lane_keeps(const struct lane *l);

/* ---- agreement ---- */

/* `answer` holds this lane's proposal, and afterwards the common answer. False: there is none. */
bool agree(const char *key, char *answer, size_t n);
/* The answer that there is already. */
bool agreed(const char *key, char *answer, size_t n);
/* Waits until KEY.0 ... KEY.(ranks-1) are there, up to wait_s; gives each to `take`. -1: all; else the first one
 * missing. */
int agree_wait(const char *key, int ranks, uint64_t wait_s,
               void (*take)(void *ctx, int rank, const char *answer), void *ctx);
/* The reason, "" if the arm is alive. */
void arm_died(const char *arm, const char *why);
bool arm_is_dead(const char *arm);

/* ---- journals ---- */

struct journal {
    int fd; /* -1: closed */
    char name[320];
};
bool journal_open(struct journal *j, const char *name);
void journal_line(struct journal *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Text without what a JSON string cannot hold. */
void journal_clean(char *text);

/* A function of a shared object that is loaded, by one of its names; else of the objects after this one. *known keeps
 * it. Without one it says `lack` and ends the process. */
void *engine_real(void **known, const char *const *objects, const char *symbol, const char *lack);
/* At the end of a process without a communicator of two ranks: what it has loaded. */
void engine_write_unseen(void);
/* A communicator of one rank. It is written at once: a job that is alone may go on for ever. */
void engine_write_alone(void);

/* One line on stderr, from the first rank of a host. */
void engine_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
uint64_t engine_hash(uint64_t seed, const void *bytes, size_t n);
