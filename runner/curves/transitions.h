/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the table `launches` into curves of time against size: one for each platform, workload, label, config
 * and mode, and each set of parameters but size. The replicates of a curve are the launches of its
 * runs. In place and out of place are two curves: one launch measured both, so neither confirms the
 * other.
 *
 * The features of one row of times against size, of one replicate or of the median of several: the
 * points left out before the fit, the breaks and half-points of the fit, and the dips. transitions.c
 * decides which of them it reports.
 *
 * Finds switches, kinks, knees, dips and spikes in curves of time against size. Pure, but for
 * transitions_make and transitions_print.
 *
 * A curve has one platform, workload, label, config, mode and one set of parameters but size; its
 * replicates are launches. Switches are read: the recording says what ran at each size.
 * All other features are fitted to the median of the replicates. A feature is confirmed when at least
 * two replicates, and more than half of them, show it by themselves, at most one measured size away.
 * So one replicate confirms nothing.
 *
 *  - switch: another algorithm or protocol runs at the next size. CTAs: only their number changes.
 *  - first row: the smallest size, which is measured first, takes longer than the four sizes after
 *    it, by more than these differ. It is a warm-up artefact if any replicate shows it, and is left
 *    out of the other steps.
 *  - spike: one or two sizes lie above the line between their neighbours, by TRANSITION_SPIKE and by
 *    more than other points are off such lines, and the next size is faster. Left out of the fit.
 *  - kink: two Hockney pieces meet, with or without a jump in time. The cause may be a switch or an
 *    exhausted resource; the times cannot tell which. Looked for only if no recording says what ran.
 *  - knee: n½ = a·b lies within its piece, latency-bound below and bandwidth-bound above.
 *  - dip: the bandwidth falls by TRANSITION_DIP below that of a smaller size; or by
 *    TRANSITION_SHALLOW, if a neighbouring size shows at least half the depth. A larger size regains
 *    half of it, at most TRANSITION_DIP_WIDE times that smaller one.
 *  - fall: the same, and none of these sizes regains half of it.
 *  - fit: a piece between two sizes, with its latency and bandwidth.
 *  - refused: the curve is chaotic or too short for any statement.
 *
 * The thresholds widen with the error of the fit, so that noise makes no features.
 */
#pragma once

#include "curves/hockney.h"
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

struct curve_grid {      /* the sizes that every replicate has, ascending, with their times */
    double *size, *time; /* size[n]; time[r * n_max] */
    const double **rows; /* the replicates in `time` */
    const char **ran;    /* ran[r * n_max]; rec_cell.ran */
    bool known;          /* none of them is "" */
    size_t n, n_max, replicates;
};

#define TRANSITIONS_LEAST 6 /* sizes of a curve, at least */
#define TRANSITION_JUMP 0.05
#define TRANSITION_DIP 0.05
#define TRANSITION_DIP_WIDE 32 /* the largest size of a dip over its smallest */
#define TRANSITION_SHALLOW 0.03
#define TRANSITION_SPIKE 0.08
#define TRANSITION_ARTEFACT 0.04

enum transition_kind {
    TRANSITION_FIRST_ROW,
    TRANSITION_SPIKED,
    TRANSITION_SWITCH,
    TRANSITION_CTAS,
    TRANSITION_KINK,
    TRANSITION_KNEE,
    TRANSITION_DIPPED,
    TRANSITION_FELL,
    TRANSITION_FIT,
    TRANSITION_REFUSED,
    TRANSITION_KINDS
};

/* The points that are left, and their fit; trace_free. */
struct trace {
    double *size, *time; /* owned */
    size_t n;
    struct piecewise fit;
};

struct finding { /* a feature of a trace */
    enum transition_kind kind;
    size_t first, last; /* points of the trace on both sides of it, or that it covers */
    double size, change;
    size_t piece; /* before a kink; the piece of a knee */
    bool jumps;   /* a kink: with a jump in time */
    bool falls;   /* a kink: with less bandwidth above */
};

struct findings {
    struct finding v[64];
    size_t n;
};

#define TRANSITIONS_CSV "transitions.csv"
extern const char transitions_columns[];
#define TRANSITION_CHAOS 0.2    /* error of the fit */
#define TRANSITION_FALLING 0.25 /* share of steps in which a larger size is faster by a tenth */
#define TRANSITION_DISAGREE 0.4 /* median over sizes of log(slowest / fastest replicate) */

struct curve {
    const double *size; /* ascending, > 0 */
    size_t n;
    const double *const *time; /* [replicate][size], > 0 */
    size_t replicates;
    const char *const *const *ran; /* [replicate][size] what ran; NULL: unknown */
};

struct transition {
    enum transition_kind kind;
    double size, low, high;       /* where; between which measured sizes */
    struct hockney before, after; /* NaN: none */
    double change;                /* relative: of the time (spike, jump) or the bandwidth (dip) */
    size_t agree;                 /* number of replicates that show it */
    char why[160];
};

struct transitions {
    struct transition *v;
    size_t n, replicates;
    double error_in, error_out; /* of the fit, relative; NaN when refused */
};

/* transitions_free afterwards. */
struct transitions transitions_find(const struct curve *c);
void transitions_free(struct transitions *t);

/* "recorded" (a switch, a number of CTAs), "confirmed", "unconfirmed" (one replicate), "not
 * confirmed", "fit", "artefact" or "refused". */
const char *transition_verdict(const struct transitions *t, const struct transition *one);

/* Makes the table `transitions` from the table `launches`, in the order of the curves. GS_OK or
 * reported. */
int transitions_make(struct store *s);

/* Prints a line for each row of the table, of this platform if it is not NULL: those that are recorded
 * or confirmed first, then by the change. Leaves out fits and refused curves. At most a screen, unless
 * `all` is set. path: of the file that has every row; NULL: there is none. GS_OK or reported. */
int transitions_print(struct store *s, const char *platform, bool all, const char *path);
