/* SPDX-License-Identifier: Apache-2.0 */
#include "record/ledger.h"

#include "base/err.h"
#include "base/text.h"
#include "record/check_recording.h"
#include "record/record.h"

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

/* ---- lines, which were checked before ---- */

struct reading {
    struct ledger *ledger;
    struct ledger_file *file;
};

static char *copy_of(const struct raw_line *line, const char *key)
{
    return xstrdup(json_string_value(json_object_get(line->json, key)));
}

static char *where_of(const struct raw_line *line)
{
    const char *host = json_string_value(json_object_get(line->json, "host"));
    const json_t *rank = json_object_get(line->json, "rank");
    return host && *host && json_integer_value(rank) >= 0
               ? xstrfmt("rank %d on %s", (int)json_integer_value(rank), host)
               : NULL;
}

static void add_fail(struct ledger *l, const struct ledger_file *f, const struct raw_line *line)
{
    ALLOC_MORE(l->fails, l->n_fails);
    struct ledger_fail *x = &l->fails[l->n_fails++];
    *x = (struct ledger_fail){.launch = f->launch,
                              .attempt = f->attempt,
                              .kind = copy_of(line, "kind"),
                              .why = copy_of(line, "why"),
                              .where = where_of(line)};
    snprintf(x->cell, sizeof x->cell, "%s", json_string_value(json_object_get(line->json, "cell")));
}

static void add_line(void *ctx, const struct raw_line *line)
{
    struct ledger *l = ((struct reading *)ctx)->ledger;
    struct ledger_file *f = ((struct reading *)ctx)->file;
    if (line->type == RAW_HEADER && !l->run_id)
        l->run_id = copy_of(line, "run_id");
    else if (line->type == RAW_FAIL)
        add_fail(l, f, line);
    else if (line->type == RAW_END)
        f->status = copy_of(line, "status");
    else if (line->type == RAW_GROUP) {
        ALLOC_MORE(f->closed, f->n_closed);
        f->closed[f->n_closed++] = copy_of(line, "group");
    }
}

static int read_recording(struct ledger *l, struct ledger_file *f, const char *run_id)
{
    struct reading r = {l, f};
    const struct check check = {
        .plan = &l->plan, .run_id = run_id ? run_id : l->run_id, .line = add_line, .ctx = &r};
    return check_recording(f->path, &check, &f->torn);
}

/* ---- the folder ---- */

static int by_attempt(const void *a, const void *b)
{
    const struct ledger_file *x = a, *y = b;
    return x->launch != y->launch ? x->launch - y->launch : x->attempt - y->attempt;
}

static int list_recordings(struct ledger *l)
{
    AUTO_WORDS struct words paths = {0};
    if (!record_list(l->dir, &paths))
        return fail_at(GS_USAGE, l->dir, 0, "is not a run folder: %s", strerror(errno));
    l->files = xcalloc(paths.n + 1, sizeof *l->files);
    for (; l->n_files < paths.n; l->n_files++) {
        struct ledger_file *f = &l->files[l->n_files];
        f->path = xstrdup(paths.v[l->n_files]);
        record_parse_name(path_name(f->path), &f->launch, &f->attempt);
    }
    qsort(l->files, l->n_files, sizeof *l->files, by_attempt);
    return GS_OK;
}

int ledger_read_of(struct ledger **out, const char *dir, const char *run_id)
{
    struct ledger *l = xcalloc(1, sizeof *l);
    l->dir = xstrdup(dir);
    int code = list_recordings(l);
    if (!code)
        code = check_plan_read(&l->plan, dir);
    bool plan_read = !code;
    for (size_t i = 0; plan_read && i < l->n_files; i++) {
        int one = read_recording(l, &l->files[i], run_id);
        code = code ? code : one;
    }
    if (code) {
        ledger_free(l);
        l = NULL;
    }
    *out = l;
    return code;
}

int ledger_read(struct ledger **out, const char *dir)
{
    return ledger_read_of(out, dir, NULL);
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
        free(l->fails[i].where);
    }
    check_plan_free(&l->plan);
    free(l->files);
    free(l->fails);
    free(l->dir);
    free(l->run_id);
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
