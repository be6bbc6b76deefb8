/* SPDX-License-Identifier: Apache-2.0
 *
 * What may not be printed: a row of a table is refused when its recording is
 *   stale          the platform's config, as it stands, does not ask for it any more
 *   under-sampled  fewer launches count than that config asks for
 *   mixed          its launches are of different origins (origin.h)
 *   damaged        its files are not those of its manifest
 * and a number when nothing is left of its rows, or when it is worked out from recordings of
 * different machines or software. Each fault is kept once, with the command that mends it.
 */
#ifndef GS_PAPER_GATE_H
#define GS_PAPER_GATE_H

#include "publish/paper_evidence.h"
#include "publish/paper_tables.h"
#include "publish/select.h"

struct gap {
    char *what;    /* of which run, and why */
    char *command; /* that fills it */
    char *first;   /* number that lacks it */
    size_t numbers;
    bool needed; /* by a number that cannot do without */
};

struct gate {
    struct proofs proofs;
    struct gap *v;
    size_t n;
};

/* Takes the refused rows out of a choice. *left_out: how many; *gap: the place in gate->v of the
 * last one's fault, where there was one. GS_OK or reported. */
int gate_rows(struct gate *gate, struct shelf *s, const struct grid *g, struct chosen *rows,
              const char *number, size_t *left_out, size_t *gap);

/* Nothing was recorded for these clauses. Takes `what` over; the place of the gap. */
size_t gate_wanting(struct gate *gate, const struct shelf *s, const char *clauses,
                    const char *number, char *what);

/* In what two rows' recordings are unlike, and the gap that it is; false: in nothing. */
bool gate_unlike(struct gate *gate, struct shelf *s, const struct grid *g, size_t row,
                 const struct grid *h, size_t other, const char *number, size_t *gap);

/* A line a gap on stderr: errors for what is needed, what is left out otherwise. GS_OK, or
 * GS_FAILED when something is needed. */
int gate_report(const struct gate *gate);
void gate_free(struct gate *gate);

#endif
