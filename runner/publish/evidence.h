/* SPDX-License-Identifier: Apache-2.0
 *
 * The evidence for a row of a table: the run folder, its recordings, the cells, and how many launches the
 * platform's config asks for. Each run is read once.
 *
 * Which rows may be printed. A row of a table is refused when its recording is
 *   under-sampled  it has fewer launches than that config requests
 *   mixed          its launches have different origins (origin.h)
 *   damaged        its files differ from its manifest
 * The row of a cell that was skipped is left out without a fault.
 * A number is refused when all its rows are, or when it is calculated from recordings of different
 * machines or software. Each fault is listed once, with the command that repairs it.
 */
#pragma once

#include "compare/origin.h"
#include "publish/tables.h"
#include "record/machine.h"
#include "record/recorded.h"

struct proof { /* a run */
    char *dir;
    struct recorded *r; /* NULL: nothing recorded there, or damaged, which was reported */
    struct origins origins;
    struct machine machine;
    bool finished;                /* has its manifest */
    char *config;                 /* of its platform: the path */
    const char *const *overrides; /* of the config; owned by r; NULL: none */
    int64_t launches;             /* that the config asks for; 0: it cannot be read */
    int64_t left_out;             /* launches of which the statistics leave out a group */
};

struct proofs {
    const char *configs; /* folder; not owned */
    struct proof **v;
    size_t n;
};

/* Owned by `p`. GS_OK, or GS_FAILED, reported, for a run that cannot be read or was edited. */
int proof_of(struct proofs *p, const char *dir, struct proof **out);

/* Fills cells[] (room for r->n_cells) with the indices in r->cells of the cells of this row; a contrast
 * has those of its baseline too. Returns how many. */
size_t proof_cells(const struct proof *p, const struct grid *g, size_t row, size_t *cells);

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
 * the last fault, if any. */
void admissibility_rows(struct admissibility *admissibility, struct paper_tables *s,
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
