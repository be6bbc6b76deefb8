/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync compare`: contrasts and their verdicts (contrast.h, judgement.h).
 *
 *   compare [RAW…]            inside each run: every config against the baseline of its group and
 *                             mode, block by block (paired; compare/within_run.h); of an imported run,
 *                             whose configs share no block, launch by launch (compare/unpaired.h)
 *   compare --best-of MODE    the same, but against the config that is fastest in MODE, in the
 *                             other modes: is what is best alone best in the step?
 *   compare A B               exactly two: runs, or folders of runs, cell by cell, B against A,
 *                             launch by launch (unpaired; compare/between_runs.h)
 *   compare --again [RAW…]    contrasts that several runs have measured: does the later run's
 *                             verdict repeat the earlier one's (compare/repeatability.h)? Of a compare.csv or a
 *                             chosen.csv in place of RAW, nothing is solved again
 *   compare RUN --reference   the measured against the published numbers of [reference], each with
 *                             its tolerance (reference.h); slower than that: exit 1
 *
 * with -o CSV to write CSV/compare.csv beside the table in the terminal, or with --best-of
 * CSV/chosen.csv, whose columns are the same and whose floor is that of the config with a second
 * copy, or with --again CSV/again.csv (compare/repeatability.h).
 *
 * A family, over which Holm adjusts, is what one question asks: the contrasts of one group (all
 * but config and mode alike) and one mode. Launches of different origins (origin.h) are kept apart:
 * each origin has a row of its own, and the reason names what differs. The stream of the bootstrap
 * is rng_stream(seed of the recording, id of the cell), so that the answer depends on neither the
 * threads nor on what else is compared.
 *
 * compare.csv has a row a contrast. ratio is of times, config to baseline: below 1 is faster; its
 * interval is 95%. equivalence is the bound that the verdict went by, relative: [measure]
 * equivalence, or the tolerance of a published number.
 *
 * p_interval and p_permutation are of two tests of the same row (contrast.h), neither adjusted.
 * p_holm is adjusted over the row's family: of p_interval where p_holm_of says "interval", of the
 * larger of the two where it says "both" (judgement.h). So p_holm >= p_interval in every row, and
 * p_holm < 0.05 only where the interval excludes a ratio of 1.
 *
 * floor is the A/A floor: how much longer the slower of the baseline's two copies took, relative
 * (0.002 is 0.2%). Nothing is claimed of a ratio between 1/(1+floor) and 1+floor; what prints it
 * prints both ends. It is empty where there is no second copy. launches_needed: how many more;
 * empty where none would do. What could not be compared has a row without numbers, inconclusive,
 * with the reason.
 *
 * A paired contrast in which both configs ran the same operation, as the recording says, has the
 * verdict "same operation". Its numbers stay, and measured_verdict is what they would be called. How
 * often that is faster or slower is a placebo test of the method (placebo.h). Of other contrasts
 * measured_verdict is the verdict. Two runs side by side run the same operation on purpose: there
 * the times decide, and a difference in what ran is named in the reason.
 */
#ifndef GS_COMPARE_H
#define GS_COMPARE_H

#include "compare/judgement.h"

#include <stdbool.h>
#include <stdint.h>

enum contrast_kind { CONTRAST_PAIRED, CONTRAST_UNPAIRED, CONTRAST_REFERENCE };

struct values { /* by launch; owned */
    struct nested *v;
    size_t n;
};

struct contrast {
    enum contrast_kind kind;
    char *platform, *workload, *label, *run_id, *mode, *params, *baseline, *config; /* owned */
    char *ran, *baseline_ran; /* rec_cell.ran of both; owned */
    int64_t size_B;
    struct values x;  /* log-ratios; of A's times when unpaired */
    struct values y;  /* of B's when unpaired */
    struct values aa; /* log-ratios of the baseline's copies; empty: there is no second */
    struct values bb; /* of B's baseline when A and B are two runs */
    uint64_t seed, stream;
    size_t family;
    double bound;  /* equivalence or tolerance, relative */
    bool no_floor; /* a verdict needs none: imported launches, which have no second copy */
    char *note;    /* what else is to be said; owned, NULL: nothing */
    char *origin;  /* of its launches (origin.h); owned, NULL: of no run's own blocks */
    /* solved */
    struct effect effect;
    double floor; /* a logarithm; NaN: none. Of two runs the sum of theirs: both may be off */
    double p_holm;
    bool permuted; /* p_permutation entered Holm's test too */
    struct judgement judgement;
    enum verdict measured;         /* what the times alone would be called */
    bool first;                    /* of its family: its aa stands for the family's */
    struct judgement aa_judgement; /* of the second copy against the first; of a first one alone */
};

struct comparison {
    struct contrast *v;
    size_t n, families;
};

/* An empty contrast at the end. */
struct contrast *comparison_append(struct comparison *c);
/* And with the texts of where it is from copied; its baseline_ran is "". */
struct recorded;
struct rec_cell;
struct contrast *comparison_add(struct comparison *c, const struct recorded *r,
                                const struct rec_cell *cell, const char *baseline);
void contrast_note(struct contrast *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Same platform, workload and label; and the same run. */
bool contrasts_of_one_section(const struct contrast *a, const struct contrast *b);
bool contrasts_of_one_run(const struct contrast *a, const struct contrast *b);
void values_add(struct values *x, int launch, double value);
struct values values_copy(const struct values *from);

/* What a verdict of it may not be below: NaN where it needs a floor and has none. */
double contrast_floor(const struct contrast *c);

#define COMPARE_THREADS_MAX 1024
/* Effects, families, verdicts. The same answer whatever the threads; 0: as many as processors. */
void comparison_solve(struct comparison *c, long threads);
void comparison_free(struct comparison *c);

#define COMPARE_CSV "compare.csv"
#define CHOSEN_CSV "chosen.csv" /* against the best of a mode */
extern const char compare_columns[];
/* The fields of compare_columns; the row is not ended. */
struct csv;
void contrast_row(struct csv *csv, const struct contrast *c);
/* GS_OK or reported. */
int comparison_write(const struct comparison *c, const char *dir, const char *file);
/* Adds what such a table holds: solved, but without the values, standard errors and origins that
 * it came from. The whole reason is the note. GS_OK, or GS_USAGE or GS_FAILED, reported. */
int comparison_read(struct comparison *c, const char *path);

#endif
