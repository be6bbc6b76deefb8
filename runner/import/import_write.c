/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_write.h"

#include "base/err.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "import/import_launch.h"
#include "record/manifest.h"
#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A launch that broke off has some of the cells of the others. Configs need not be the same: they
 * are what a run contrasts. */
static bool of_one_run(const struct launch *a, const struct launch *b, bool as_launches)
{
    return !b->written && (a->file == b->file || as_launches) && !strcmp(a->key, b->key) &&
           (as_launches || *a->test->missing || *b->test->missing ||
            !strcmp(a->cells_key, b->cells_key));
}

static void tell(const struct launch *l, int number)
{
    uint64_t samples = 0;
    size_t faults = 0;
    for (size_t i = 0; i < l->test->n_cells; i++) {
        samples += l->test->cells[i].samples.n;
        faults += l->test->cells[i].kind != NULL;
    }
    say("  launch %d: %s, %zu cells, %llu samples, config %s%s%s%s", number, l->imp->path,
        l->test->n_cells, (unsigned long long)samples, l->config,
        l->test->unverified ? ", results not verified" : "",
        *l->test->missing ? "; truncated: " : "", l->test->missing);
    if (faults)
        say("  %zu cells are kept with what is wrong with them", faults);
}

static int write_run(struct launch *all, size_t n, size_t first, const char *out, bool as_launches)
{
    char *dir;
    int number = 0;
    bool contrast = false; /* of its launches' configs */
    struct launch *lead = &all[first];
    int code = record_make_run(out, lead->platform, lead->test->workload, IMPORT_LABEL, &dir);
    if (code)
        return code;
    for (size_t i = first; i < n && !code; i++)
        if (of_one_run(lead, &all[i], as_launches)) {
            code = launch_write(&all[i], dir, ++number);
            all[i].written = true;
            contrast = contrast || strcmp(all[i].config, lead->config);
            if (!code)
                tell(&all[i], number);
        }
    if (!code && lead->at)
        code = import_platform_write(lead->at, dir);
    if (!code)
        code = manifest_write(dir);
    if (!code) {
        printf("%s\n", dir);
        fflush(stdout);
        say("next: gradsync %s %s", contrast ? "compare" : "show", SHELL_WORD(dir));
    }
    fflush(stdout);
    free(dir);
    return code;
}

/* The same bytes under two names are one launch. */
static int check_copies(const struct imported *files, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(files[i].imp->sha256, files[k].imp->sha256))
                return fail_at(GS_USAGE, files[i].imp->path, 0,
                               "refused: the same bytes as %s, and a copy is no second launch",
                               files[k].imp->path);
    return GS_OK;
}

int import_write(struct imported *files, size_t n, const char *out, bool as_launches)
{
    struct launch *all = NULL;
    size_t count = 0;
    int code = check_copies(files, n);
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < files[i].imp->n_tests; t++) {
            all = xrealloc(all, (count + 1) * sizeof *all);
            int one = launch_know(&all[count++], &files[i], i, t);
            code = code ? code : one;
        }
    for (size_t i = 0; i < count && !code; i++)
        if (!all[i].written)
            code = write_run(all, count, i, out, as_launches);
    for (size_t i = 0; i < count; i++)
        launch_forget(&all[i]);
    free(all);
    return code;
}
