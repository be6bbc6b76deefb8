/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rows may be printed. A row of a table is refused when its recording is
 *   stale          the platform's config no longer requests it
 *   under-sampled  it has fewer launches than that config requests
 *   mixed          its launches have different origins (origin.h)
 *   damaged        its files differ from its manifest
 * The row of a cell that was skipped is left out without a fault.
 * A number is refused when all its rows are, or when it is calculated from recordings of different
 * machines or software. Each fault is listed once, with the command that repairs it.
 */
#pragma once

#include "publish/paper_evidence.h"
#include "publish/paper_tables.h"

struct gap {
    char *what;    /* the run, and the fault */
    char *command; /* the command that repairs it; NULL: none can */
    char *first;   /* first number without a value */
    size_t numbers;
    bool needed; /* true: a number without `else` needs it */
};

struct admissibility {
    struct proofs proofs;
    struct gap *v;
    size_t n;
};

/* Removes the refused rows from a choice. *left_out: how many; *gap: index in admissibility->v of
 * the last fault, if any. GS_OK or reported. */
int admissibility_rows(struct admissibility *admissibility, struct paper_tables *s,
                       const struct grid *g, struct chosen *rows, const char *number,
                       size_t *left_out, size_t *gap);

/* Adds a gap: nothing was recorded for this query; NULL: measuring cannot fill it. Takes ownership of `what`. Returns the index. */
size_t admissibility_missing(struct admissibility *admissibility, const struct paper_tables *s,
                             const char *query, const char *number, char *what);

/* True, and the gap, if the recordings of two rows have different machines or software. */
bool admissibility_unlike(struct admissibility *admissibility, struct paper_tables *s,
                          const struct grid *g, size_t row, const struct grid *h, size_t other,
                          const char *number, size_t *gap);

/* Prints one line for each gap to stderr. GS_OK, or GS_FAILED when a number needs one of them. */
int admissibility_report(const struct admissibility *admissibility);
void admissibility_free(struct admissibility *admissibility);
