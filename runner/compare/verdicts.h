/* SPDX-License-Identifier: Apache-2.0
 *
 * The contrasts of `gradsync compare`, judged together: their verdicts (contrast.h), the best config of
 * each group, and checks of the method.
 *
 *   compare [RAW…]            inside each run: every config against the baseline of its group and
 *                             mode, block by block (paired; collect.h). In an imported run, whose
 *                             configs share no block, launch by launch (collect.h)
 *   compare A B               two runs: cell by cell, B against A, launch by
 *                             launch (unpaired; collect.h)
 *
 * `query --export` writes compare.csv, and chosen.csv with the same columns: the contrasts against the config that is fastest in mode comm, in the other modes, with
 * the floor of the config with a second copy. Is what is fastest alone also the best in the step?
 *
 * Holm's adjustment is over a family: the contrasts of one group (all equal but config and mode) and
 * one mode. Launches of different origins (origin.h) are not mixed: each origin has its own row, and
 * the reason names the difference. The bootstrap uses rng_stream(seed of the recording, id of the
 * cell), so the result depends neither on the threads nor on the other contrasts.
 *
 * The columns of the tables are explained in store/column_words.c. p_holm >= p_interval in every row, and
 * p_holm < 0.05 only if the interval excludes a ratio of 1. A contrast that could not be compared has a row
 * without numbers, inconclusive, with the reason.
 *
 * A paired contrast has the verdict "same operation" if both configs differ in the library's tuning
 * alone, and the recording says that both ran the same algorithm with as many CTAs. It keeps its
 * numbers, and measured_verdict is the verdict by its times. How often that is faster or slower is a
 * placebo test of the method. In other contrasts measured_verdict is the verdict. When two
 * runs are compared, the times decide, because both may run the same operation on purpose; the reason
 * names a difference in what ran.
 *
 * The best config is the one with the lowest ratio of those that were shown to be faster than the
 * baseline; if there is none, it is the baseline. The others are then judged against it in the same
 * blocks, by the rules of contrast.h. It was chosen by those blocks, so the true difference to a
 * close rival tends to be smaller than the measured one.
 *
 * Two checks of the verdicts by contrasts without a real difference, for each run and mode:
 *
 *   placebo  config and baseline ran the same operation in their own communicators: the share whose
 *            times alone would be called faster or slower
 *   A/A      the second copy of the baseline against the first, one for each family, judged as the
 *            only member of its family and without a floor
 *
 * The copies of the baseline may share a communicator, so the A/A rate lacks the differences between
 * communicators; the placebo rate has them. Both leave out contrasts of fewer than two launches,
 * because these never have a verdict of faster or slower.
 */
#pragma once

#include "base/text.h"
#include "compare/contrast.h"
#include "reduce/summary.h"

#include <stdbool.h>
#include <stdint.h>

enum contrast_kind { CONTRAST_PAIRED, CONTRAST_UNPAIRED };

struct values { /* by launch; owned */
    struct nested *v;
    size_t n;
};

struct contrast {
    enum contrast_kind kind;
    char *platform, *workload, *label, *run_id, *mode, *params, *baseline, *config; /* owned */
    char *ran, *baseline_ran; /* rec_cell.ran; owned */
    struct words differs; /* name, value…: its parameters that the baseline has not or has with
                                 another value; empty for configs that share no run */
    bool same_operation;  /* recorded_same_operation */
    int64_t size_B;
    struct values x;  /* log-ratios; unpaired: log-times of A */
    struct values y;  /* unpaired: log-times of B */
    struct values aa; /* log-ratios of the baseline's two copies; empty: no second copy */
    struct values bb; /* the same of B, if A and B are two runs */
    uint64_t seed, stream;
    size_t family;
    double bound;  /* equivalence, relative */
    bool no_floor; /* the verdict needs no floor: imported launches have no second copy */
    char *note;    /* for the reason; owned; NULL: none */
    char *origin;  /* of its launches (origin.h); owned; NULL: unknown */
    /* set by comparison_solve */
    struct effect effect;
    double floor; /* a logarithm; NaN: none. The sum of both floors for two runs */
    double p_holm;
    bool permuted; /* p_permutation entered Holm's test */
    struct judgement judgement;
    enum verdict measured; /* the verdict by the times alone */
    bool first;            /* the first contrast of its family */
    bool aa_called;        /* only if `first` is set, and not without_aa: the second copy was
                                    * called different from the first */
};

struct comparison {
    struct contrast *v;
    size_t n, families;
    bool without_aa; /* nobody asks for aa_called, which takes a bootstrap for each family */
};

/* Adds an empty contrast. */
struct contrast *comparison_append(struct comparison *c);
/* Adds a contrast with the names of the run and the cell; its baseline_ran is "". */
struct recorded;
struct rec_cell;
struct contrast *comparison_add(struct comparison *c, const struct recorded *r,
                                const struct rec_cell *cell, const char *baseline);
/* Fills `differs` from the cells of the config and its baseline. */
void contrast_differs(struct contrast *c, const struct rec_cell *cell,
                      const struct rec_cell *baseline);
/* Adds to the note of a contrast, after "; ". */
void note_add(char **note, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Same platform, workload and label; and the same run and mode. */
bool contrasts_of_one_section(const struct contrast *a, const struct contrast *b);
bool contrasts_of_one_question(const struct contrast *a, const struct contrast *b);
struct values values_copy(const struct values *from);

enum level contrast_level(const struct contrast *c);
/* Why it has its verdict, with its note; the caller frees it. */
char *contrast_reason(const struct contrast *c);
bool comparison_has_family(const struct comparison *c, size_t family);

/* Computes effects, adjusted p and verdicts. threads 0: one for each processor. */
void comparison_solve(struct comparison *c, long threads);
void comparison_free(struct comparison *c);

#define COMPARE_COLUMNS                                                                            \
    "platform,workload,label,run_id,mode,size_B,params,baseline,config,launches,blocks,ratio,"     \
    "ratio_low,ratio_high,p_permutation,p_interval,p_holm,p_holm_of,floor,equivalence,verdict,"    \
    "launches_needed,reason,measured_verdict,baseline_ran,ran,level,small_effect"
extern const char compare_columns[];
/* Writes the fields of compare_columns; does not end the row. */
struct csv;
void contrast_row(struct csv *csv, const struct contrast *c);

struct winner {
    const struct contrast *first; /* of its family */
    const struct contrast *best;  /* NULL: the baseline */
    const struct contrast *small; /* without a best one: the config that shortens the time most, by
                                     less than the bound of equivalence; NULL: none */
    size_t rivals;                /* all other configs */
    size_t counts[VERDICTS];      /* their verdicts against the best config */
};

struct winners {
    struct winner *v;
    size_t n;
};

/* One winner for each family of the solved comparison, which must outlive them. */
void winners_find(struct winners *w, const struct comparison *c, long threads);
void winners_free(struct winners *w);

/* The config to print as the fastest: the best one, the small one, or the baseline if confirmed; "-"
 * while nothing is decided. */
const char *winner_shown(const struct winner *w);
/* "faster", "small", "confirmed" or "inconclusive" */
const char *winner_verdict(const struct winner *w);

extern const char placebo_columns[];

/* The rows of placebo.csv. */
void placebo_put(struct csv *csv, const struct comparison *c);
