/* SPDX-License-Identifier: Apache-2.0 */
#include "record/ledger.h"

#include "base/err.h"
#include "base/text.h"
#include "record/raw.h"
#include "record/record.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a cell is measured again after a fail line of this kind. */
static const struct {
    const char *kind;
    bool again; /* up to `retries` times: the process died, and the next try may succeed */
} kinds[] = {
    {"skip", false}, {"failed", false}, {"wrong", false},
    {"crash", true}, {"hang", true},    {"lost", true},
};

static bool tried_again(const char *kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].kind, kind))
            return kinds[i].again;
    return false;
}

static int add_group(struct ledger_file *f, const struct raw *r, const struct raw_line *line)
{
    const char *group;
    if (!raw_string(r, line, "group", &group))
        return GS_FAILED;
    f->closed = xrealloc(f->closed, (f->n_closed + 1) * sizeof *f->closed);
    f->closed[f->n_closed++] = xstrdup(group);
    return GS_OK;
}

static int add_fail(struct ledger *l, const struct ledger_file *f, const struct raw *r,
                    const struct raw_line *line)
{
    const char *cell, *kind, *why;
    if (!raw_string(r, line, "cell", &cell) || !raw_string(r, line, "kind", &kind) ||
        !raw_string(r, line, "why", &why))
        return GS_FAILED;
    l->fails = xrealloc(l->fails, (l->n_fails + 1) * sizeof *l->fails);
    struct ledger_fail *x = &l->fails[l->n_fails++];
    *x = (struct ledger_fail){.launch = f->launch, .attempt = f->attempt};
    snprintf(x->cell, sizeof x->cell, "%s", cell);
    x->kind = xstrdup(kind);
    x->why = xstrdup(why);
    return GS_OK;
}

static int add_end(struct ledger_file *f, const struct raw *r, const struct raw_line *line)
{
    const char *status;
    if (!raw_string(r, line, "status", &status))
        return GS_FAILED;
    free(f->status);
    f->status = xstrdup(status);
    return GS_OK;
}

static int add_line(struct ledger *l, struct ledger_file *f, const struct raw *r,
                    const struct raw_line *line)
{
    switch (line->type) {
    case RAW_GROUP:
        return add_group(f, r, line);
    case RAW_FAIL:
        return add_fail(l, f, r, line);
    case RAW_END:
        return add_end(f, r, line);
    default:
        return GS_OK;
    }
}

static int read_recording(struct ledger *l, struct ledger_file *f)
{
    const unsigned want = 1u << RAW_FAIL | 1u << RAW_GROUP | 1u << RAW_END;
    struct raw *r;
    int code = raw_open(&r, f->path);
    if (code)
        return code;
    struct raw_line line;
    int got = 0;
    while (!code && (got = raw_next(r, want, &line)) == 1)
        code = add_line(l, f, r, &line);
    raw_close(r);
    return code ? code : got < 0 ? GS_FAILED : GS_OK;
}

static int by_attempt(const void *a, const void *b)
{
    const struct ledger_file *x = a, *y = b;
    return x->launch != y->launch ? x->launch - y->launch : x->attempt - y->attempt;
}

static int list_recordings(struct ledger *l)
{
    DIR *d = opendir(l->dir);
    if (!d)
        return fail_at(GS_USAGE, l->dir, 0, "is not a run folder: %s", strerror(errno));
    for (struct dirent *e; (e = readdir(d));) {
        struct ledger_file f = {0};
        if (!record_parse_name(e->d_name, &f.launch, &f.attempt))
            continue;
        f.path = xstrfmt("%s/%s", l->dir, e->d_name);
        l->files = xrealloc(l->files, (l->n_files + 1) * sizeof *l->files);
        l->files[l->n_files++] = f;
    }
    closedir(d);
    if (l->n_files)
        qsort(l->files, l->n_files, sizeof *l->files, by_attempt);
    return GS_OK;
}

int ledger_read(struct ledger **out, const char *dir)
{
    struct ledger *l = xcalloc(1, sizeof *l);
    l->dir = xstrdup(dir);
    int code = list_recordings(l);
    for (size_t i = 0; !code && i < l->n_files; i++)
        code = read_recording(l, &l->files[i]);
    if (code) {
        ledger_free(l);
        l = NULL;
    }
    *out = l;
    return code;
}

void ledger_free(struct ledger *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n_files; i++) {
        struct ledger_file *f = &l->files[i];
        for (size_t j = 0; j < f->n_closed; j++)
            free(f->closed[j]);
        free(f->closed);
        free(f->status);
        free(f->path);
    }
    for (size_t i = 0; i < l->n_fails; i++) {
        free(l->fails[i].kind);
        free(l->fails[i].why);
    }
    free(l->files);
    free(l->fails);
    free(l->dir);
    free(l);
}

bool ledger_closed(const struct ledger *l, int launch, const char *group, int *attempt)
{
    for (size_t i = 0; i < l->n_files; i++) {
        const struct ledger_file *f = &l->files[i];
        for (size_t j = 0; f->launch == launch && j < f->n_closed; j++)
            if (!strcmp(f->closed[j], group)) {
                if (attempt)
                    *attempt = f->attempt;
                return true;
            }
    }
    return false;
}

bool ledger_given_up(const struct ledger *l, int launch, const char *cell, int64_t retries)
{
    int64_t deaths = 0;
    for (size_t i = 0; i < l->n_fails; i++) {
        const struct ledger_fail *f = &l->fails[i];
        if (f->launch != launch || strcmp(f->cell, cell))
            continue;
        if (!tried_again(f->kind) || ++deaths > retries)
            return true;
    }
    return false;
}

static bool lacks_a_cell(const struct ledger *l, const struct plan *p, const struct group *g,
                         int launch)
{
    for (size_t i = g->first; i < g->first + g->n; i++)
        if (!ledger_given_up(l, launch, p->cells[i].id, p->set.measure.retries))
            return true;
    return false;
}

size_t ledger_missing(const struct ledger *l, const struct plan *p, int launch, bool *missing)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_groups; i++) {
        bool lacking = !ledger_closed(l, launch, p->groups[i].id, NULL) &&
                       lacks_a_cell(l, p, &p->groups[i], launch);
        if (missing)
            missing[i] = lacking;
        n += lacking;
    }
    return n;
}

int ledger_next_attempt(const struct ledger *l, int launch)
{
    int next = 1;
    for (size_t i = 0; i < l->n_files; i++)
        if (l->files[i].launch == launch && l->files[i].attempt >= next)
            next = l->files[i].attempt + 1;
    return next;
}
