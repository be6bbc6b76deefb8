/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads what the ranks of a job write with the engine (plugins/engine/engine.h), and joins it: the visits that
 * all ranks completed, each with the time of the slowest one.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct visit {
    int launch;                              /* of a recording */
    int64_t step, block, copy, steps, ranks; /* step: the number of the one that was found */
    char *arm;
    uint64_t most_ns, least_ns; /* of its steps but the first, over ranks */
    uint64_t *rank_ns; /* by rank, in the order of the files; 0: not there. NULL: unknown */
    double at;         /* Unix seconds of its first step */
    bool left_out;     /* collectives: it is an arm of a price that acted */
};

struct visits {
    struct visit *v;
    size_t n;
    int64_t ranks, step_calls, step_B;
    double
        periods; /* 0, or as many steps of the visits as a step of the job has, by the lines that it prints */
};

double visit_step_s(const struct visit *v);
/* The visit of an arm in a block; NULL: there is none. */
const struct visit *visit_of(const struct visits *all, int launch, int64_t block, const char *arm,
                             int64_t copy);
bool visits_have(const struct visits *all, const char *arm);
void visits_free(struct visits *all);

struct journals {
    struct visits visits;
    char library[16], name[64]; /* "": no collective was seen */
    int64_t ranks, hosts, nccl;
    int64_t files, made, found, over,
        ended; /* ranks: with a journal, a communicator, a step, ... */
    struct journal_place {
        int64_t rank;     /* of the job; -1: unknown */
        char *host, *gpu; /* the UUID of its GPU; "": unknown */
    } * places;           /* by file */
    struct journal_arm {
        char id[32], why[300]; /* why: it cannot be visited; "": it can */
        double memory_B, made_s;
    } * arms;
    size_t n_arms;
    char turn[32];    /* the arm that the calls go by now; "": no visit has begun */
    char why[200];    /* visits are over; "": they are not */
    char before[300]; /* the object whose functions the job calls before NCCL's; "": none */
    int64_t step;     /* the number of the latest that was found; 0: none */
    int64_t step_calls, step_B; /* of it */
    struct journal_step {
        int64_t calls, bytes;
    } steps[64]; /* by number less 1 */
    int64_t visit_steps;
    int64_t all_B, large_B, reduced_B, other_B; /* of a step (plugins/engine/engine.h) */
    struct journal_seen {
        int64_t calls, bytes, others, other_B;
    } seen;        /* by the rank with most of them, before a step was known */
    double step_s; /* about, before the first visit */
    bool begun, captured;
    bool equal; /* the collectives of the step are alike, so it may be a part of one, or several */
    int64_t calls, dropped; /* of one rank; calls: once it has ended */
    /* Of processes without a call: what they have loaded; whether one is alone in its communicator. */
    bool has_cuda, has_nccl, has_mpi, alone;
};

/* Lines that are torn or no lines of a journal are left out: a rank may be writing. False: the folder cannot be read. */
bool journals_read(struct journals *j, const char *dir);
void journals_free(struct journals *j);
/* Nearly all bytes go by calls that no arm leaves out, before a step is known. */
bool journals_only_send(const struct journals *j);
/* Why there is no visit at all. The caller frees it. */
char *journals_why(const struct journals *j);
