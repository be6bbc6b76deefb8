/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens along a curve of time against size: switches, kinks, knees, dips, spikes. Pure but for
 * transitions_write, which reads launches.csv and writes transitions.csv.
 *
 * A curve is one platform, workload, label, config, mode and parameters but size; its replicates are
 * launches (curves.h). Switches are read: the recording says what ran at each size. All else is fitted
 * to the median of the replicates, and is confirmed when more than half of them, and at least two, show
 * it by themselves, at most one measured size away. With one replicate nothing is confirmed.
 *
 *  - switch: the algorithm or the protocol that ran is another one at the next size. CTAs: their
 *    number alone is.
 *  - first row: the smallest size, measured first, takes longer than the four after it, by more
 * than they differ. A warm-up artefact if any replicate shows it, left out of what follows.
 *  - spike: one size, or two, above the line between its neighbours by TRANSITION_SPIKE and by more than
 *    other points are off such lines, the next size being faster again. Left out of the fit.
 *  - kink: two Hockney pieces meet, with a jump in time or without one. A switch may be behind it, or
 *    a resource that is exhausted; the times cannot tell. Looked for only where no recording says what
 *    ran.
 *  - knee: n½ = a·b lies within its piece, latency-bound below and bandwidth-bound above.
 *  - dip: the bandwidth falls by TRANSITION_DIP below what a smaller size had reached, or by
 *    TRANSITION_SHALLOW if it does so at two sizes side by side: half as deep at the second at least.
 *  - fit: a piece, its latency and bandwidth, between two sizes.
 *  - refused: the curve is chaotic or too short, and nothing is said of it.
 *
 * The thresholds widen with the error of the fit, so that noise makes no features.
 */
#ifndef GS_TRANSITIONS_H
#define GS_TRANSITIONS_H

#include "curves/hockney.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSITIONS_CSV "transitions.csv"
#define TRANSITIONS_LEAST 6 /* sizes */
#define TRANSITION_JUMP 0.05
#define TRANSITION_DIP 0.05
#define TRANSITION_SHALLOW 0.03
#define TRANSITION_SPIKE 0.08
#define TRANSITION_ARTEFACT 0.04
#define TRANSITION_CHAOS 0.2 /* of the fit's error */
#define TRANSITION_FALLING                                                                         \
    0.25                        /* share of the steps in which a larger size is faster by a tenth  \
                                 */
#define TRANSITION_DISAGREE 0.4 /* median over sizes of log(slowest / fastest replicate) */

enum transition_kind {
    TRANSITION_FIRST_ROW,
    TRANSITION_SPIKED,
    TRANSITION_SWITCH,
    TRANSITION_CTAS,
    TRANSITION_KINK,
    TRANSITION_KNEE,
    TRANSITION_DIPPED,
    TRANSITION_FIT,
    TRANSITION_REFUSED,
    TRANSITION_KINDS
};
extern const char *const transition_names[];

struct curve {
    const double *size; /* ascending, > 0 */
    size_t n;
    const double *const *time; /* [replicate][size], > 0 */
    size_t replicates;
    const char *const *const *ran; /* [replicate][size] what ran, or NULL: not known */
};

struct transition {
    enum transition_kind kind;
    double size, low, high;       /* where, and between which measured sizes */
    struct hockney before, after; /* NaN where there is none */
    double change;                /* relative: of the time (spike, jump) or the bandwidth (dip) */
    size_t agree;                 /* replicates that show it */
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
 * confirmed"; of a fit, an artefact or a refusal that word itself. */
const char *transition_verdict(const struct transitions *t, const struct transition *one);

/* Rows of each kind, and those of them that are confirmed or recorded. */
struct transition_counts {
    size_t found[TRANSITION_KINDS], confirmed[TRANSITION_KINDS];
};
/* Is it one of the two verdicts that may be relied on? */
bool transition_is_sure(const char *verdict);

/* DIR/launches.csv to DIR/transitions.csv, rows in the order of the curves there. GS_OK or
 * reported. */
int transitions_write(const char *dir, struct transition_counts *counts);

#endif
