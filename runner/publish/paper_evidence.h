/* SPDX-License-Identifier: Apache-2.0
 *
 * The evidence for a row of a table: the run folder, its recordings, the cells, and what the
 * platform's config requests today. Each run is read once.
 */
#pragma once

#include "compare/origin.h"
#include "publish/grid.h"
#include "record/machine.h"
#include "record/recorded.h"

struct proof { /* a run */
    char *dir;
    struct recorded *r; /* NULL: nothing recorded there, or damaged, which was reported */
    struct origins origins;
    struct machine machine;
    bool finished; /* has its manifest */
    /* The present config of its platform. */
    char *config;                 /* its path */
    const char *const *overrides; /* publish/config_match.h; owned by r */
    char *why;                    /* it cannot be read or planned; NULL: it can */
    int64_t launches;             /* that it asks for; 0: the section is gone, or `why` */
    int64_t left_out;             /* launches of which the statistics leave out a group */
    bool *requested;              /* of each cell in r: the config still asks for it */
};

struct proofs {
    const char *configs; /* folder; not owned */
    struct proof **v;
    size_t n;
};

/* Owned by `p`. GS_OK, or GS_FAILED, reported, for a run that cannot be read or was edited. */
int proof_of(struct proofs *p, const char *dir, struct proof **out);
void proofs_free(struct proofs *p);

/* Fills cells[] (room for r->n_cells) with the indices in r->cells of the cells of this row; a contrast
 * has those of its baseline too. Returns how many. */
size_t proof_cells(const struct proof *p, const struct grid *g, size_t row, size_t *cells);
