/* SPDX-License-Identifier: Apache-2.0
 *
 * What recordings say about settings of training steps: the contrasts of whole steps against NCCL's
 * own choice (auto), at the levels synthetic to training. Operations alone are left out.
 *
 * A contrast counts unless a later run, or a complete one in place of an unfinished one, has
 * measured the same, or the same setting has numbers
 * from a higher level on the same platform, ranks and nodes.
 *
 * Gains are relative: 0.02 is a step that is 2% shorter.
 */
#pragma once

#include "compare/verdicts.h"
#include "compare/setting.h"
#include "record/machine.h"

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
bool evidence_has_numbers(const struct evidence *e);
/* A verdict, the lower bound above GAIN_LEAST, and NCCL ran what the setting asks for. */
bool evidence_wins(const struct evidence *e);
/* The largest gain that the settings of a step leave open: the highest end of the intervals of all of
 * them, which hold together (effect_simultaneous). 0 at least. NAN: no setting has an interval, or one
 * was measured in one launch alone, which bounds nothing. All latest settings of the step enter, also
 * those that are slower in another step; of a level that timed it, not of a higher one. */
double evidence_left_open(const struct steps_evidence *s, const struct evidence *step);
bool evidence_same_step(const struct evidence *a, const struct evidence *b);
/* Does v[i] count, as the first of its step? */
bool evidence_opens_step(const struct steps_evidence *s, size_t i);
