/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens along a curve of time against size: knees, protocol switches, dips, spikes. Pure but
 * for transitions_write, which reads launches.csv and writes transitions.csv.
 *
 * A curve is one platform, workload, label, config, mode and parameters but size; its replicates
 * are the launches, the runs, and the two columns in place and out of place. What is found is found
 * in the median of the replicates, and is confirmed when more than half of them, and at least two,
 * show it by themselves, at most one measured size away. With one replicate nothing is confirmed.
 *
 *  - first row: the smallest size, measured first, takes longer than the four after it, by more
 * than they differ. A warm-up artefact if any replicate shows it, left out of what follows.
 *  - spike: one size, or two, above the line between its neighbours by TRANSITION_SPIKE, the next
 *    size being faster again. Left out of the fit.
 *  - protocol switch: two Hockney pieces meet with a jump in time; or without one, and the
 * bandwidth rises, as the lower envelope of two protocols bends. Where the config fixes the
 * protocol it is called a knee.
 *  - knee: n½ = a·b lies within its piece, latency-bound below and bandwidth-bound above; or two
 *    pieces meet without a jump and the bandwidth falls: a resource is exhausted.
 *  - dip: the bandwidth falls by TRANSITION_DIP below what a smaller size had reached.
 *  - fit: a piece, its latency and bandwidth, between two sizes.
 *  - refused: the curve is chaotic or too short, and nothing is said of it.
 *
 * The thresholds widen with the error of the fit, so that noise makes no features.
 */
#ifndef GS_VERDICT_TRANSITIONS_H
#define GS_VERDICT_TRANSITIONS_H

#include "hockney.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSITIONS_CSV "transitions.csv"
#define TRANSITIONS_LEAST 6 /* sizes */
#define TRANSITION_JUMP 0.05
#define TRANSITION_DIP 0.05
#define TRANSITION_SPIKE 0.2
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
    bool fixed; /* the config names the protocol: it does not switch */
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

/* "confirmed", "unconfirmed" (one replicate), "not confirmed"; of a fit, an artefact or a refusal
 * that word itself. */
const char *transition_verdict(const struct transitions *t, const struct transition *one);

/* Rows of each kind, and those of them with the verdict "confirmed". */
struct transition_counts {
    size_t found[TRANSITION_KINDS], confirmed[TRANSITION_KINDS];
};

/* DIR/launches.csv to DIR/transitions.csv, rows in the order of the curves there. GS_OK or
 * reported. */
int transitions_write(const char *dir, struct transition_counts *counts);

#endif
