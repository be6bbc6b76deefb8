/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync advise`: which setting to use on a platform, if any. A setting is advised if
 *   - it wins (evidence_wins) in a replayed step, a trial or a training, and
 *   - it is not shown slower in any other step of the same ranks and nodes, to which it would apply
 *     too.
 * The advice is for the steps that it shortens. A step that never ran it gets no advice, and synthetic
 * steps lead to none: they end with the command that asks the user's own job.
 * Of several settings, the one with the highest level of evidence is first, then the one with the
 * largest lower bound of its gain. Of those that are not distinguishable from it in its step, the one
 * with the fewest changes takes its place.
 *
 * What recordings say about settings of training steps: the contrasts of whole steps against NCCL's
 * own choice (auto), at the levels synthetic to training. Operations alone are left out.
 *
 * A contrast counts unless a later run, or a complete one in place of an unfinished one, has
 * measured the same, or the same setting has numbers from a higher level on the same platform, ranks
 * and nodes.
 *
 * Gains are relative: 0.02 is a step that is 2% shorter.
 */
#pragma once

#include "base/text.h"
#include "compare/setting.h"
#include "compare/verdicts.h"
#include "record/machine.h"

/* ---- evidence ---- */

#define GAIN_LEAST 0.005 /* the lower bound of a gain that is worth a setting */

struct advice_run {
    char *dir;
    struct machine machine;
    size_t shape;
    bool unfinished; /* it has no manifest */
};

/* A setting applies to the ranks and nodes that were measured. */
struct shape {
    const char *platform, *ranks, *nodes;
};

struct evidence {
    const struct contrast *c;
    const struct advice_run *run;
    char *step; /* its parameters without those of the config; owned */
    enum level level;
    enum setting_effect effect;
    bool latest; /* no later run has measured the same */
    bool counts; /* latest, and its setting has no numbers from a higher level */
};

struct steps_evidence {
    struct comparison comparison;
    struct advice_run *runs;
    size_t n_runs;
    struct evidence *v; /* in the order of the runs */
    size_t n;
    struct shape *shapes;
    size_t n_shapes;
    char *platforms; /* of all recordings: "h200-2gpu, local" */
};

/* roots: platforms, runs or folders of runs; n 0: data/raw. GS_OK or reported. */
int evidence_read(struct steps_evidence *s, char **roots, size_t n);
/* From the contrasts and runs of s: the verdicts, and which of them count. For the simulation. */
void evidence_judge(struct steps_evidence *s);
void evidence_free(struct steps_evidence *s);

/* Is it of imported iteration times? They are steps, launched apart, and lead to no advice. */
bool evidence_is_imported(const struct contrast *c);
double evidence_gain_low(const struct evidence *e);
double evidence_gain_high(const struct evidence *e);
/* A verdict, the lower bound above GAIN_LEAST, and NCCL ran what the setting asks for. */
bool evidence_wins(const struct evidence *e);
/* The largest gain that the settings of a step leave open: the highest end of the intervals of all of
 * them, which hold together (effect_simultaneous). 0 at least. NAN: no setting has an interval, or one
 * was measured in one launch alone, which bounds nothing. All latest settings of the step enter, also
 * those that are slower in another step; of a level that timed it, not of a higher one. */
double evidence_left_open(const struct steps_evidence *s, const struct evidence *step);
bool evidence_same_step(const struct evidence *a, const struct evidence *b);

/* ---- advice ---- */

/* The command that measures the settings in the user's own job. */
#define ADVICE_ASK_YOUR_JOB "gradsync tune -- COMMAND"

/* A setting over the steps of a shape. */
struct candidate {
    const struct evidence *best;   /* the win with the largest lower bound; NULL: it wins nowhere */
    const struct evidence *slower; /* a step that it lengthens; NULL: none */
    double low, high;              /* over all its wins at the level of the best one */
    size_t wins, steps;            /* at that level; steps: with numbers */
};

/* Of the settings that may be advised; synthetic: of those that win in synthetic steps alone. */
struct candidate candidate_of(const struct steps_evidence *s, size_t shape, const char *config,
                              bool synthetic);
bool advice_find(const struct steps_evidence *s, size_t shape, struct candidate *out);

/* The answer in one paragraph; the caller frees it. */
char *advice_sentence(const struct steps_evidence *s, size_t shape);
/* The command that gives a higher level of evidence, if any. */
void advice_commands(struct words *commands, const struct steps_evidence *s, size_t shape);
/* Does the shape have a step? */
bool advice_has_steps(const struct steps_evidence *s, size_t shape);
/* The headings, and the cells of a row for each step. */
enum {
    ADVICE_STEP,
    ADVICE_SETTING,
    ADVICE_GAIN,
    ADVICE_OPEN,
    ADVICE_LEVEL,
    ADVICE_RAN_BASELINE,
    ADVICE_RAN_SETTING,
    ADVICE_WORDS,
    ADVICE_COLUMNS
};
extern const char *const advice_headings[ADVICE_COLUMNS];
/* The label of its section, its size, and the parameters in which the steps of the section differ:
 * "backward 16MiB gemms=4". The caller frees it. */
char *advice_step_name(const struct steps_evidence *s, const struct evidence *of);
void advice_rows(struct words *cells, const struct steps_evidence *s, size_t shape);
