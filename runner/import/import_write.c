/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_write.h"

#include "base/err.h"
#include "base/shell_quote.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/units.h"
#include "record/manifest.h"
#include "record/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A truncated launch has only some of the cells. Configs may differ: compare contrasts them. */
static bool of_one_run(const struct import_launch *a, const struct import_launch *b,
                       bool as_launches)
{
    return !b->written && (a->file == b->file || as_launches) && !strcmp(a->key, b->key) &&
           (as_launches || *a->test->missing || *b->test->missing ||
            !strcmp(a->cells_key, b->cells_key));
}

/* A list of times does not name their unit: a wrong one must show. */
static void tell_unit(const struct import *imp)
{
    const struct imp_cell *c = imp->tests->cells; /* the only one */
    double one, *x = xcalloc(c->n_samples, sizeof *x);
    AUTO_FREE char *unit = xstrfmt("1%s", imp->unit);
    units_parse_time(unit, &one);
    for (size_t i = 0; i < c->n_samples; i++)
        x[i] = (double)c->time_ns[i] * 1e-9 / one;
    double median = stats_median(x, c->n_samples);
    int whole = (int)floor(log10(median));
    say("  %zu time%s, read as %s, median %.*f %s", c->n_samples, c->n_samples == 1 ? "" : "s",
        import_unit_name(imp), whole > 2 ? 0 : 2 - whole, median, imp->unit);
    free(x);
}

static void tell(const struct import_launch *l, int number)
{
    uint64_t samples = 0;
    size_t faults = 0;
    for (size_t i = 0; i < l->test->n_cells; i++) {
        samples += l->test->cells[i].n_samples;
        faults += l->test->cells[i].kind != NULL;
    }
    say("  launch %d: %s, %zu cell%s, %llu sample%s, config %s%s%s%s", number, l->file->imp->path,
        l->test->n_cells, l->test->n_cells == 1 ? "" : "s", (unsigned long long)samples,
        samples == 1 ? "" : "s", l->config, l->test->unverified ? ", results not verified" : "",
        *l->test->missing ? "; truncated: " : "", l->test->missing);
    if (!strcmp(l->file->imp->format, import_iteration.name))
        tell_unit(l->file->imp);
    if (faults)
        say("  %zu cell%s a fault; 'gradsync show' names it", faults,
            faults == 1 ? " has" : "s have");
}

static int write_run(struct import_launch *all, size_t n, size_t first, const char *out,
                     bool as_launches)
{
    AUTO_FREE char *dir = NULL;
    int number = 0;
    bool contrast = false; /* the configs differ */
    struct import_launch *lead = &all[first];
    int code = record_make_run(out, lead->platform, lead->test->workload, IMPORT_LABEL, &dir);
    if (code)
        return code;
    for (size_t i = first; i < n && !code; i++)
        if (of_one_run(lead, &all[i], as_launches)) {
            code = import_launch_write(&all[i], dir, ++number);
            all[i].written = true;
            contrast = contrast || strcmp(all[i].config, lead->config);
            if (!code)
                tell(&all[i], number);
        }
    if (!code && lead->file->at)
        code = import_platform_write(lead->file->at, dir);
    if (!code)
        code = manifest_write(dir);
    if (!code) {
        printf("%s\n", dir);
        fflush(stdout);
        say("next: gradsync %s %s", contrast ? "compare" : "show", SHELL_WORD(dir));
    }
    fflush(stdout);
    return code;
}

static int check_copies(const struct imported *files, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(files[i].imp->sha256, files[k].imp->sha256))
                return fail_at(GS_USAGE, files[i].imp->path, 0,
                               "refused: the same bytes as %s; a copy is not a second launch",
                               files[k].imp->path);
    return GS_OK;
}

int import_write(struct imported *files, size_t n, const char *out, bool as_launches)
{
    AUTO_FREE struct import_launch *all = NULL;
    size_t count = 0;
    int code = check_copies(files, n);
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < files[i].imp->n_tests; t++) {
            ALLOC_MORE(all, count);
            int one = import_launch_make(&all[count++], &files[i], t);
            code = code ? code : one;
        }
    for (size_t i = 0; i < count && !code; i++)
        if (!all[i].written)
            code = write_run(all, count, i, out, as_launches);
    for (size_t i = 0; i < count; i++)
        import_launch_free(&all[i]);
    return code;
}
