/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/elsewhere.h"

#include "base/err.h"
#include "base/locate.h"
#include "base/text.h"
#include "record/runs.h"

#include <stdlib.h>
#include <string.h>

static enum level highest(const struct steps_evidence *s, const struct shape *of)
{
    enum level level = LEVEL_ALONE;
    for (size_t i = 0; i < s->n; i++) {
        const struct shape *at = &s->shapes[s->v[i].run->shape];
        if (!strcmp(at->ranks, of->ranks) && !strcmp(at->nodes, of->nodes) &&
            !strcmp(at->platform, of->platform) && s->v[i].level > level)
            level = s->v[i].level;
    }
    return level;
}

static const char *gpu_of(const struct steps_evidence *s, size_t shape)
{
    for (size_t i = 0; i < s->n_runs; i++)
        if (s->runs[i].shape == shape && s->runs[i].machine.facts[FACT_GPU])
            return s->runs[i].machine.facts[FACT_GPU];
    return NULL;
}

static bool is_fact(const struct machine *m, enum machine_fact fact, const char *value)
{
    return m->facts[fact] && !strcmp(m->facts[fact], value);
}

/* Has the platform a run of these GPUs, ranks and nodes? Reads headers only. */
static bool has_machine(const char *platform, const struct shape *of, const char *gpu)
{
    struct runs runs = {.unsorted = true};
    bool found = false;
    int code = runs_find(&runs, platform);
    for (size_t i = 0; i < runs.n && !code && !found; i++) {
        AUTO(machine_free) struct machine m = {0};
        code = machine_of_run(&m, runs.v[i].dir);
        found = !code && is_fact(&m, FACT_GPU, gpu) && is_fact(&m, FACT_RANKS, of->ranks) &&
                is_fact(&m, FACT_NODES, of->nodes);
    }
    runs_free(&runs);
    return found;
}

static enum level level_on(char *platform, const struct shape *of)
{
    AUTO(evidence_free) struct steps_evidence s = {0};
    const struct shape there = {platform, of->ranks, of->nodes};
    return evidence_read(&s, &platform, 1) ? LEVEL_ALONE : highest(&s, &there);
}

/* Damage elsewhere is reported when that platform is read. */
char *elsewhere_find(const struct steps_evidence *s, size_t shape)
{
    const struct shape *of = &s->shapes[shape];
    const char *gpu = gpu_of(s, shape), *best = NULL;
    AUTO_WORDS struct words platforms = {0};
    enum level level = LEVEL_SYNTHETIC;
    char ignored[1];
    if (!gpu || highest(s, of) > level)
        return NULL;
    err_capture(ignored, sizeof ignored);
    locate_platforms(&platforms);
    for (size_t i = 0; i < platforms.n; i++) {
        char *name = platforms.v[i];
        if (!strcmp(name, of->platform) || !has_machine(name, of, gpu))
            continue;
        enum level there = level_on(name, of);
        if (there > level) {
            level = there;
            best = name;
        }
    }
    err_capture(NULL, 0);
    return best ? xstrdup(best) : NULL;
}
