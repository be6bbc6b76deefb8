/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a step file or as a trace of torch.profiler: the first byte says which. A step that is read is written and read again.
 */
#include "bundle.h"
#include "import/import_step.h"

static void step(const char *text, size_t n)
{
    char why[512] = "", *again = NULL;
    size_t length = 0;
    struct step_file f;
    if (!step_parse(&f, "x", text, n, why, sizeof why)) {
        if (!*why || f.line)
            abort();
        return;
    }
    FILE *out = open_memstream(&again, &length);
    step_write_version(out);
    for (size_t i = 0; i < f.n; i++)
        step_write_line(out, &f.line[i]);
    fclose(out);
    struct step_file g;
    if (!step_parse(&g, "y", again, length, why, sizeof why) || g.n != f.n)
        abort();
    step_free(&f);
    step_free(&g);
    free(again);
}

static void draft(const char *text, size_t n)
{
    char error[512] = "";
    struct step_draft d = {.path = "x"};
    struct text copy = {0};
    text_addn(&copy, text, n);
    err_capture(error, sizeof error);
    int code = step_from_trace(&d, &copy);
    err_capture(NULL, 0);
    if (code && !*error)
        abort();
    text_free(&copy);
    step_draft_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n)
        return 0;
    say_quiet(1);
    if (data[0] % 2 == 0)
        step((const char *)data + 1, n - 1);
    else
        draft((const char *)data + 1, n - 1);
    return 0;
}
