/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync advise`: which setting to use on a platform, if any. A setting is advised if
 *   - it wins in a step (evidence_wins), and
 *   - it is not shown slower in any other step of the same ranks and nodes, to which it would apply
 *     too.
 * Of several, the one with the highest level of evidence is first, then the one with the largest
 * lower bound of its gain. Of those that are not distinguishable from it in its step, the one with
 * the fewest changes takes its place.
 */
#pragma once

#include "advise/evidence.h"
#include "base/text.h"

/* A setting over the steps of a shape. */
struct candidate {
    const struct evidence *best;   /* the win with the largest lower bound; NULL: it wins nowhere */
    const struct evidence *slower; /* a step that it lengthens; NULL: none */
    double low, high;              /* over all its wins */
    size_t wins, steps;            /* steps: with numbers */
};

struct candidate candidate_of(const struct steps_evidence *s, size_t shape, const char *config);
/* Adds all advised settings. */
void advice_settings(struct words *configs, const struct steps_evidence *s, size_t shape);
/* The first of them. False: there is none. */
bool advice_find(const struct steps_evidence *s, size_t shape, struct candidate *out);

/* "14.5 to 16.0%". Returns buf. */
const char *advice_span(char *buf, size_t n, double low, double high);
/* The command that raises the level of a setting; the caller frees it. */
char *advice_next(const struct evidence *e);
/* The answer in one sentence; the caller frees it. */
char *advice_sentence(const struct steps_evidence *s, size_t shape);
/* The commands that raise the level of what advice_find finds; adds none without one. */
void advice_commands(struct words *commands, const struct steps_evidence *s, size_t shape);
/* Does the shape have a step? */
bool advice_has_steps(const struct steps_evidence *s, size_t shape);
/* The headings, and the cells of a row for each step. */
enum {
    ADVICE_STEP,
    ADVICE_SETTING,
    ADVICE_GAIN,
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
/* The sentence and a row for each step. */
void advice_print(const struct steps_evidence *s);
/* Of recordings without a step of their own: why there is no advice. */
void advice_say_none(const struct steps_evidence *s);
