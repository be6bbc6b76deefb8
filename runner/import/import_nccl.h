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

/* Sets the type and the operation of a cell whose size is set. GS_OK, or refused: in an all-reduce,
 * the size is not `count` elements of that type. */
int nccl_set_type(const struct import_lines *in, const struct imp_test *t, const char *type,
                  const char *op, int64_t count, struct imp_cell *cell);

/* The numbers of a row, out of place or in place. */
struct nccl_numbers {
    int64_t size_B;
    struct number time_us, algbw, busbw; /* GB/s */
};
/* GS_OK or refused: the time is negative; the bandwidth is not size / time; or the bus bandwidth
 * is not that of the collective with this number of ranks. Rounding is allowed for. */
int nccl_check(const struct import_lines *in, const struct nccl_numbers *row,
               enum imp_factor factor, int64_t ranks);

/* Refuses a file that nccl-tests wrote with -C. */
int nccl_refuse_cpu_time(const struct import_lines *in);
