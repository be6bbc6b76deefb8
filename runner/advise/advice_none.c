/* SPDX-License-Identifier: Apache-2.0
 *
 * Why recordings without steps of gradsync's own lead to no advice.
 */
#include "advise/advice.h"
#include "base/screen.h"

#include <math.h>
#include <stdio.h>

/* The contrast of imported iteration times with the largest gain; NULL: there are none. */
static const struct contrast *find_imported(const struct steps_evidence *s)
{
    const struct contrast *most = NULL;
    for (size_t i = 0; i < s->comparison.n; i++) {
        const struct contrast *c = &s->comparison.v[i];
        if (evidence_is_imported(c) && (!most || c->effect.value < most->effect.value))
            most = c;
    }
    return most;
}

static void say_imported(const struct steps_evidence *s, const struct contrast *c)
{
    char span[64];
    bool faster = c->judgement.verdict == VERDICT_FASTER;
    AUTO_FREE char *shorter =
        faster ? xstrfmt("%s %s shorter than %s", c->config,
                         advice_span(span, sizeof span, -expm1(c->effect.hi), -expm1(c->effect.lo)),
                         c->baseline)
               : xstrfmt("nothing shorter than %s", c->baseline);
    AUTO_FREE char *line = xstrfmt("No advice for %s: the imported iteration times show %s, but "
                                   "gradsync advises only from its own recordings, whose configs "
                                   "share blocks or launches.",
                                   s->platforms, shorter);
    screen_say(line);
    printf("Next: gradsync train CONFIG (docs/training.md), or gradsync trial --arms ctas=16 -- "
           "COMMAND\n");
}

void advice_say_none(const struct steps_evidence *s)
{
    const struct contrast *imported = find_imported(s);
    if (imported) {
        say_imported(s, imported);
        return;
    }
    AUTO_FREE char *line =
        xstrfmt("No advice for %s: no training step was compared with auto there, and a "
                "collective alone does not tell whether a step gets shorter.",
                s->platforms);
    screen_say(line);
    printf("Next: gradsync trial --arms ctas=16 -- COMMAND, or a config with [iter_proxy]\n");
}
