/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_step.h"

#include "base/err.h"
#include "base/files.h"
#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct step_line *step_draft_add(struct step_draft *d, enum step_kind kind, enum step_dtype dtype)
{
    ALLOC_GROW(d->line, d->n, d->cap);
    d->line[d->n] = (struct step_line){.kind = kind, .dtype = dtype};
    return &d->line[d->n++];
}

static int check_size(const char *path)
{
    struct stat st;
    char is[32], most[32];
    if (stat(path, &st) != 0)
        return fail_file(path, "read", errno);
    if (!S_ISREG(st.st_mode))
        return fail_at(GS_FAILED, path, 0, "not a file");
    if ((uint64_t)st.st_size <= STEP_TRACE_MAX)
        return GS_OK;
    return fail_at(GS_FAILED, path, 0,
                   "%s is more than %s: record fewer steps (torch.profiler.schedule with active=3)",
                   units_human_size(is, sizeof is, (double)st.st_size),
                   units_human_size(most, sizeof most, (double)STEP_TRACE_MAX));
}

static char *default_name(const char *path)
{
    const char *name = path_name(path);
    const char *dot = strchr(name, '.');
    size_t n = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    return xstrfmt("%.*s.step", (int)n, name);
}

static int write_draft(const struct step_draft *d, const char *path)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return fail(GS_FAILED, "%s: %s", path, strerror(errno));
    step_write_version(out);
    for (char *rest = d->head.s, *line; (line = strsep(&rest, "\n"));)
        if (*line)
            fprintf(out, "# %s\n", line);
    for (size_t i = 0; i < d->n; i++)
        step_write_line(out, &d->line[i]);
    fclose(out);
    char why[512];
    struct step_file check;
    if (!step_parse(&check, path, text, n, why, sizeof why)) {
        free(text);
        return fail_at(GS_FAILED, d->path, 0, "makes a step that cannot be replayed: %s", why);
    }
    step_free(&check);
    int code = files_write_new(path, text, 0644) ? GS_OK : fail_file(path, "written", errno);
    free(text);
    return code;
}

static int read_draft(struct step_draft *d, const struct text *in)
{
    const char *s = in->s ? in->s : "";
    const unsigned char *bytes = (const unsigned char *)s;
    const char *first = s + strspn(s, " \t\r\n");
    if (in->len > 1 && bytes[0] == 0x1f && bytes[1] == 0x8b)
        return fail_at(GS_FAILED, d->path, 0, "compressed: run gunzip on it first");
    if (strlen(s) < in->len)
        return fail_at(GS_FAILED, d->path, 0,
                       "not text: give a trace of torch.profiler as JSON");
    if (!*first)
        return fail_at(GS_FAILED, d->path, 0, "empty: give a trace of torch.profiler");
    return step_from_trace(d, in);
}

int import_step(const char *path, const char *out)
{
    struct step_draft d = {.path = path};
    AUTO_TEXT struct text in = {0};
    AUTO_FREE char *name = out ? xstrdup(out) : default_name(path);
    int code = access(name, F_OK) == 0
                   ? fail_at(GS_USAGE, name, 0, "exists: give another name with -o")
                   : check_size(path);
    if (!code && !text_read_file(path, &in))
        code = fail_file(path, "read", errno);
    if (!code)
        code = read_draft(&d, &in);
    if (!code)
        code = write_draft(&d, name);
    if (!code) {
        printf("%s\n", name);
        say("next: step = %s in an [iter_proxy] section of a config (docs/steps.md)", name);
    }
    text_free(&d.head);
    free(d.line);
    return code;
}
