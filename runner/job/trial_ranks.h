/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the logs of the ranks of a job under trial (plugins/price/trial.h), and joins them by
 * communicator: the visits that all of its ranks completed, each with the time of the slowest rank.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trial_config;

/* The folder into which the ranks write. It is in that of the recordings, which all nodes of the job
 * must see. One that a killed gradsync left is removed by the next. */
struct trial_folder {
    char *path, *config; /* config: the trial's file (trial_config.h), for the ranks */
    int lock;
};
/* Makes the folder in `out` and writes `config` into it, which the ranks read. GS_OK or reported. */
int trial_folder_make(struct trial_folder *f, const char *out, const struct trial_config *config);
/* A job that still runs cannot write to it any more; its trial is over. */
void trial_folder_remove(struct trial_folder *f);

struct trial_visit {
    int64_t step; /* the number of the step that was found */
    int64_t block, copy, steps, calls, unavailable, ranks;
    char *arm;
    uint64_t most_ns, least_ns; /* of its steps but the first, over ranks */
    uint64_t *rank_ns; /* by rank, in the order of the files; 0: not there. NULL: unknown */
    double at;         /* Unix seconds of its first step */
    json_t *taken;     /* {"ring/LL128": calls, ...} */
    json_t *ran;       /* {"ring/LL128 ctas=8": calls, ...}; empty: NCCL does not report */
};

struct trial_step {
    int64_t calls, bytes;
};

struct trial_comm {
    char *name;
    int64_t ranks, nodes, abi, nccl;
    bool takes_part;
    int64_t files, over, ended;     /* ranks: with a log, with a trial that is over, that ended */
    char *why;                      /* of one rank; NULL: unknown */
    int64_t step;                   /* the number of the latest that was found; 0: none */
    struct trial_step *steps;       /* by their number less 1 */
    int64_t step_calls, step_bytes; /* of the visits; without any, of the latest step */
    struct trial_place {
        int64_t rank;           /* of the job; -1: unknown */
        char *host, *gpu;       /* the UUID of its GPU; "": unknown */
    } * places;                 /* by file */
    uint32_t *found;            /* by file: the latest step and its call, hashed */
    bool captured;              /* a collective, into a CUDA graph */
    bool begun;                 /* the visits */
    int64_t calls, dropped;     /* of one rank; calls once it has ended */
    double silent_s;            /* between its last call and its end */
    struct trial_visit *visits; /* that all ranks completed, of one step */
    size_t n;
};

struct trial_ranks {
    struct trial_comm *v;
    size_t n;
    int64_t loaded, nccl; /* processes that loaded the plugin, and the version of their NCCL */
    /* Of a price, whose processes say this only if they made no call: what they have loaded, and whether
     * one is the only rank of its communicator. */
    bool has_cuda, has_nccl, has_mpi, alone;
};

/* GS_OK, or reported: a folder or file cannot be read, or a line is damaged. A torn last line is left
 * out, because its rank may still be writing it. */
int trial_ranks_read(struct trial_ranks *r, const char *dir);
void trial_ranks_free(struct trial_ranks *r);
void trial_comm_free(struct trial_comm *c);
/* The communicator with the most bytes a step among those with visits; NULL: there is none. Visits
 * of a step with less than a hundredth of the bytes of another one do not count: they are what is
 * left of a job whose steps went into a CUDA graph. */
const struct trial_comm *trial_ranks_lead(const struct trial_ranks *r);
/* Most ranks that found the same step at the same call. */
int64_t trial_ranks_alike(const struct trial_comm *c);

/* Did NCCL run what an arm requested? NCCL ignores an algorithm that it cannot run, and limits the
 * number of CTAs. The answer comes from what NCCL reported for each call (price/trial.h), and not from
 * the request. */

enum taken {
    TAKEN_HONOURED,
    TAKEN_UNKNOWN,     /* this NCCL does not report it */
    TAKEN_CLAMPED,     /* another number of CTAs */
    TAKEN_IGNORED,     /* another algorithm or protocol */
    TAKEN_UNAVAILABLE, /* NCCL has it for no collective of the step */
};

struct trial_taken {
    enum taken how;
    char text[256]; /* "clamped: NCCL ran at most 24 CTAs" */
};

struct trial_taken trial_taken(const struct trial_comm *c, const char *arm, int64_t copy);
/* Is the time of the arm really that of what it requested, as far as is known? */
bool trial_taken_counts(const struct trial_taken *t);
/* "ring/LL128 ctas=8 98%, tree/LL ctas=1 2%": shares of the calls that NCCL reported; or, with
 * `expected`, of those that have the lowest cost in its table. Empty: none. The caller frees. */
char *trial_taken_shares(const struct trial_comm *c, const char *arm, int64_t copy, bool expected);
/* none, one or half: an arm of a price (trial_result.h). */
bool trial_arm_is_price(const char *arm);
