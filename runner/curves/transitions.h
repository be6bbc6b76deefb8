/* SPDX-License-Identifier: Apache-2.0
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

/* The columns of `launches` that it reads. */
extern const char curves_reads[];

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
