/* SPDX-License-Identifier: Apache-2.0
 *
 * A recorded training step as text, NAME.step (docs/steps.md). The first line is "gradsync-step 1";
 * each other line is one operation, in the order in which the step issues them:
 *   gemm LAYOUT M N K DTYPE [xCOUNT]      C (M x N) = op(A) op(B), by rows; LAYOUT nn, nt, tn or tt
 *   kernel BYTES TIME                     a memory-bound kernel: bytes read and written, "3.1us"
 *   gradient ELEMENTS DTYPE               is ready now; buckets are made of gradients
 *   all_reduce ELEMENTS DTYPE GROUP       and all_gather, reduce_scatter: ELEMENTS of all ranks
 *   wait [PENDING]                        later computation waits for all collectives above, but for
 *                                         the last PENDING
 * A number followed by '*' is multiplied by the batch. '#' begins a comment.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define STEP_VERSION 1
#define STEP_FILE_MAX ((size_t)16 << 20) /* bytes of a file */
#define STEP_NUMBER_MAX (UINT64_C(1) << 40)
#define STEP_DIMENSION_MAX (UINT64_C(1) << 24)

enum step_kind {
    STEP_GEMM,
    STEP_KERNEL,
    STEP_GRADIENT,
    STEP_ALL_REDUCE,
    STEP_ALL_GATHER,
    STEP_REDUCE_SCATTER,
    STEP_WAIT
};
enum step_dtype { STEP_FP32, STEP_TF32, STEP_BF16, STEP_FP16 };
enum { STEP_M, STEP_N, STEP_K, STEP_COUNT, STEP_NUMBERS };

struct step_number {
    uint64_t value;
    bool per_batch;
};

struct step_line {
    enum step_kind kind;
    enum step_dtype dtype;
    unsigned line;                           /* of the file, from 1 */
    bool transpose_a, transpose_b;           /* of a GEMM */
    struct step_number number[STEP_NUMBERS]; /* a GEMM: M, N, K, count; others: the first alone */
    double time_s;                           /* of a kernel; 0: unknown */
    char group[32];                          /* of a collective */
};

struct step_file {
    struct step_line *line;
    size_t n;
};

/* False: `why` is "PATH:LINE: what is wrong", one line. */
bool step_read(struct step_file *f, const char *path, char *why, size_t size);
/* The same for text in memory; `name` stands for the path. */
bool step_parse(struct step_file *f, const char *name, const char *text, size_t n, char *why,
                size_t size);
void step_free(struct step_file *f);

/* Writes the first line of a file, and one operation. */
void step_write_version(FILE *out);
void step_write_line(FILE *out, const struct step_line *l);

unsigned step_dtype_B(enum step_dtype dtype);
/* -1: unknown. */
int step_dtype_of(const char *name);
const char *step_kind_name(enum step_kind kind);
bool step_is_collective(enum step_kind kind);
