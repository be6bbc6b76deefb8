/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/compare_inputs.h"

#include "base/err.h"
#include "base/locate.h"
#include "base/text.h"
#include "compare/between_runs.h"
#include "compare/within_run.h"
#include "reduce/iteration.h"

#include <string.h>

int compare_check(const struct compare_request *q)
{
    bool between = q->n == 2 && !q->again;
    const struct {
        bool wrong;
        const char *why;
    } rules[] = {
        {q->again && (q->best_of || q->baseline || q->fail_if),
         "--again excludes --best-of, --baseline and --fail-if"},
        {q->fail_if && strcmp(q->fail_if, verdict_names[VERDICT_SLOWER]),
         "--fail-if takes the verdict 'slower'"},
        {q->fail_if && !between, "--fail-if needs two runs: YESTERDAY TODAY"},
        {q->best_of && q->n == 2,
         "--best-of compares configs of a run; give one run or one folder of runs"},
        {q->baseline && (q->best_of || q->n == 2),
         "--baseline compares configs of a run; it excludes --best-of and A B"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong)
            return fail(GS_USAGE, "compare: %s", rules[i].why);
    return GS_OK;
}

/* Runs are sorted by key, so runs of one section are adjacent. */
static bool has_twin(const struct runs *runs, size_t i)
{
    return (i > 0 && runs_same_section(&runs->v[i], &runs->v[i - 1])) ||
           (i + 1 < runs->n && runs_same_section(&runs->v[i], &runs->v[i + 1]));
}

/* Adds the contrasts inside each run that was chosen. twins_only: only of sections with several
 * runs. Every damaged run is named. */
static int compare_inside(struct comparison *c, const struct compare_request *q,
                          const struct choice *choice, bool twins_only)
{
    int code = GS_OK;
    for (size_t i = 0; i < choice->runs.n && code != GS_USAGE; i++) {
        if (twins_only && !has_twin(&choice->runs, i))
            continue;
        int one = compare_within_run(c, choice->runs.v[i].dir, q->best_of, q->baseline);
        code = code ? code : one;
    }
    return code;
}

int compare_collect(struct comparison *c, const struct compare_request *q, struct choice *choice)
{
    static const char *const everything[] = {LOCATE_DATA};
    const char *const *args = (const char *const *)q->args;
    bool one_platform = q->filter.platform && !q->n;
    if (q->n == 2 && !q->again) {
        int code = compare_between_runs(c, args[0], args[1]);
        choice->runs.unsorted = true;
        for (size_t i = 0; i < q->n && !code; i++)
            code = runs_find(&choice->runs, args[i]);
        return code;
    }
    /* --platform alone names the platform. A mistyped one is then reported with the known ones. */
    const char *platform[] = {q->filter.platform};
    int code = q->again       ? choose_every_run(choice, q->n ? args : everything, q->n ? q->n : 1)
               : one_platform ? choose_runs(choice, platform, 1)
                              : choose_runs(choice, args, q->n);
    if (!code && !q->again)
        choice_say(choice);
    return code ? code : compare_inside(c, q, choice, q->again);
}

/* A known step mode may be absent; an unknown mode is an error. */
static int no_best(const char *below, const char *mode)
{
    size_t n = 0;
    while (iteration_modes[n] && strcmp(iteration_modes[n], mode))
        n++;
    if (iteration_modes[n])
        return say("nothing to compare: no recording below %s has configs of the mode '%s' beside "
                   "another mode",
                   below, mode),
               GS_OK;
    const char *near = text_nearest(mode, iteration_modes, n);
    return fail(GS_USAGE,
                "compare: no recording below %s has configs of a mode '%s' beside another mode%s; "
                "iter_proxy has compute, comm, sequential and overlapped",
                below, mode, DID_YOU_MEAN(near));
}

int compare_nothing(const struct compare_request *q, const struct choice *choice)
{
    const char *below = q->n ? q->args[0] : choice->platform ? choice->platform : LOCATE_DATA;
    if (q->baseline)
        return fail(GS_USAGE, "compare: no recording of %s has a config '%s' beside another one",
                    below, q->baseline);
    if (q->best_of)
        return no_best(below, q->best_of);
    say("nothing to compare: no recording below %s has two configs of equal size and mode; to "
        "compare two runs: gradsync compare A B; to join files into one run: gradsync import "
        "--as-launches",
        below);
    return GS_OK;
}
