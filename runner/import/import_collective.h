/* SPDX-License-Identifier: Apache-2.0
 *
 * What nccl-tests' programs, types and columns mean, for its text and its JSON.
 */
#ifndef GS_IMPORT_COLLECTIVE_H
#define GS_IMPORT_COLLECTIVE_H

#include "import/import.h"
#include "import/import_lines.h"

struct collective {
    const char *program, *workload;
    enum imp_factor factor;
};
/* By the program's name, "…/all_reduce_perf"; NULL: unknown. */
const struct collective *collective_of(const char *program);

/* An element type's name in gradsync, and its bytes; unknown: the same name, and 0. */
const char *collective_dtype(const char *name, int64_t *bytes);

/* "2.29.2" of 22902, "2.7.8" of 2708. */
void collective_version(char *buf, size_t n, int64_t code);

/* What a row claims of one side. */
struct claim {
    int64_t size_B;
    struct number time_us, algbw, busbw; /* GB/s */
};
/* GS_OK, or refused: the bandwidth is not the size over the time, or the bus bandwidth not that of
 * the collective among so many ranks, beyond what rounding explains. */
int collective_check(const struct lines *in, const struct claim *c, enum imp_factor factor,
                     int64_t ranks);

#endif
