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
 */
#pragma once

#include "advise/evidence.h"
#include "base/text.h"

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
