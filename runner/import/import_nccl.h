/* SPDX-License-Identifier: Apache-2.0
 *
 * What the text of nccl-tests has in common with its JSON: programs, types, and the checks of a row.
 */
#pragma once

#include "base/text.h"
#include "import/import_text.h"

struct nccl_program {
    const char *program, *name, *workload;
    const char *collective; /* the plugin's parameter; "": its default */
    enum imp_factor factor;
};
/* By a name such as "allgather" or "all_gather"; NULL: unknown. */
const struct nccl_program *nccl_program_named(const char *collective);
/* By the name of the program, "…/all_reduce_perf"; NULL, reported: unknown. */
const struct nccl_program *nccl_program_of(const struct import_lines *in, const char *program);

/* "2.29.2" of 22902, "2.7.8" of 2708. */
void nccl_version(char *buf, size_t n, int64_t code);

/* Iterations of a sample; 1 where the numbers make no sense. */
int64_t nccl_iters(int64_t iters, int64_t aggregated);

/* A row, as both formats have it. */
struct nccl_side {
    bool there;                          /* the operation has this variant */
    struct number time_us, algbw, busbw; /* GB/s */
    struct word time;                    /* as printed */
    bool checked;
    struct number wrong;   /* values, if checked */
    const json_t *each_us; /* the times of all iterations; NULL: only their mean */
};

struct nccl_row {
    int64_t size_B, count, root; /* root -1: none */
    char type[IMP_WORD], op[IMP_WORD];
    struct nccl_side side[2]; /* out of place, in place */
};

/* Adds the samples of a row. GS_OK or refused: in an all-reduce, the size is not `count` elements of the
 * type; a time is negative; a bandwidth is not size / time; or a bus bandwidth is not that of the
 * collective with this number of ranks. Rounding is allowed for. */
int nccl_take_row(struct import *imp, const struct import_lines *in, struct imp_test *t,
                  int64_t ranks, int64_t iters, const struct nccl_row *row);

/* Refuses a file that nccl-tests wrote with -C. */
int nccl_refuse_cpu_time(const struct import_lines *in);
