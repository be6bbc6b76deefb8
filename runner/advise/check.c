/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/advice.h"
#include "base/err.h"
#include "base/text_table.h"
#include "base/units.h"
#include "record/recorded.h"
#include "record/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 6 };

/* A config of a platform and workload, over its cells. */
struct asked {
    char *platform, *workload, *config, *other; /* other: the first that was not honoured */
    size_t counts[SETTING_EFFECTS];
};

struct check {
    struct asked *v;
    size_t n;
};

static struct asked *find(struct check *c, const struct recorded *r, const char *config)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->v[i].platform, r->platform) && !strcmp(c->v[i].workload, r->workload) &&
            !strcmp(c->v[i].config, config))
            return &c->v[i];
    APPEND(c->v, c->n) = (struct asked){.platform = xstrdup(r->platform),
                                        .workload = xstrdup(r->workload),
                                        .config = xstrdup(config)};
    return &c->v[c->n - 1];
}

static void take_cell(struct check *c, const struct recorded *r, const struct rec_cell *cell)
{
    const struct contrast as = {
        .workload = r->workload, .config = cell->config, .params = cell->params, .ran = cell->ran};
    struct setting setting;
    char size[32];
    if (!setting_of(&setting, &as) || !strcmp(cell->config, "auto") ||
        !strcmp(cell->mode, "compute"))
        return;
    struct asked *a = find(c, r, cell->config);
    enum setting_effect effect = setting_effect(cell->config, cell->ran);
    a->counts[effect]++;
    if (!a->other && (effect == EFFECT_CLAMPED || effect == EFFECT_IGNORED))
        a->other = xstrfmt("%s at %s%s%s", cell->ran,
                           units_size(size, sizeof size, (uint64_t)cell->size_B),
                           *cell->mode ? " " : "", cell->mode);
}

static int check_run(struct check *c, const char *dir)
{
    AUTO(recorded_free_of) struct recorded *r = NULL;
    int code = recorded_read(&r, dir);
    if (code || !r)
        return code;
    for (size_t i = 0; i < r->n_cells; i++)
        take_cell(c, r, &r->cells[i]);
    return GS_OK;
}

/* The rows of a platform. Returns the first of another. */
static size_t print_platform(const struct check *c, size_t from)
{
    static const char *const headings[COLUMNS] = {"workload", "setting", "honoured",
                                                  "clamped",  "ignored", "for example it ran"};
    AUTO_WORDS struct words cells = {0};
    size_t i = from;
    for (int k = 0; k < COLUMNS; k++)
        words_add(&cells, headings[k]);
    for (; i < c->n && !strcmp(c->v[i].platform, c->v[from].platform); i++) {
        const struct asked *a = &c->v[i];
        words_add(&cells, a->workload);
        words_add(&cells, a->config);
        for (int k = EFFECT_HONOURED; k < SETTING_EFFECTS; k++)
            words_addf(&cells, "%zu", a->counts[k]);
        words_addf(&cells, "%s%s", a->other ? a->other : "-",
                   a->counts[EFFECT_UNKNOWN] ? " (the rest does not say what ran)" : "");
    }
    printf("%s%s\n", from ? "\n" : "", c->v[from].platform);
    text_table_print(&cells, COLUMNS, 0, NULL);
    return i;
}

int advice_check(char **roots, size_t n)
{
    struct check c = {0};
    AUTO(runs_free) struct runs runs = {0};
    int code = evidence_runs(&runs, roots, n);
    for (size_t i = 0; i < runs.n && !code; i++)
        code = check_run(&c, runs.v[i].dir);
    for (size_t i = 0; i < c.n && !code;)
        i = print_platform(&c, i);
    if (!code && !c.n)
        say("no setting of NCCL was measured");
    for (size_t i = 0; i < c.n; i++) {
        free(c.v[i].platform);
        free(c.v[i].workload);
        free(c.v[i].config);
        free(c.v[i].other);
    }
    free(c.v);
    return code;
}
