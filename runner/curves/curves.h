/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the table `launches` into curves of time against size: one for each platform, workload, label, config
 * and mode, and each set of parameters but size. The replicates of a curve are the launches of its
 * runs. In place and out of place are two curves: one launch measured both, so neither confirms the
 * other.
 */
#pragma once

#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample { /* one measured time of a curve */
    double size, time;
    size_t replicate;
    char *ran; /* what ran, from the recording; "": unknown */
};

struct curve_rows { /* a curve; its samples are in the order of size, then replicate */
    char *names[5]; /* platform, workload, label, config, mode */
    char *params;
    int64_t ranks, nodes;
    size_t n_replicates;
    struct sample *samples;
    size_t n;
};

struct curves {
    struct curve_rows *v; /* in the order of the table */
    size_t n;
};

/* The columns of `launches` that it reads. */
extern const char curves_reads[];
/* GS_OK or reported; curves_free in both cases. */
int curves_read(struct curves *all, struct store *s);
void curves_free(struct curves *all);

struct curve_grid {      /* the sizes that every replicate has, ascending, with their times */
    double *size, *time; /* size[n]; time[r * n_max] */
    const double **rows; /* the replicates in `time` */
    const char **ran;    /* ran[r * n_max]; rec_cell.ran */
    bool known;          /* none of them is "" */
    size_t n, n_max, replicates;
};

/* A replicate that lacks sizes which most others have is left out. */
struct curve_grid curve_grid_of(struct curve_rows *c);
void curve_grid_free(struct curve_grid *g);
