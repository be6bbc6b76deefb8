/* SPDX-License-Identifier: Apache-2.0 */
#include "record/ledger.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "config/config.h"
#include "config/settings_tables.h"
#include "plan/plan.h"
#include "record/record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what plan.json says ---- */

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct planned_cell *)a)->id, ((const struct planned_cell *)b)->id);
}

static int index_cells(struct ledger_plan *p, const char *path)
{
    size_t i;
    json_t *o, *cells = json_object_get(p->root, "cells");
    p->cells = xcalloc(json_array_size(cells) + 1, sizeof *p->cells);
    json_array_foreach(cells, i, o)
    {
        struct planned_cell *c = &p->cells[p->n++];
        c->id = json_string_value(json_object_get(o, "id"));
        c->group = json_string_value(json_object_get(o, "group"));
        if (!c->id || !*c->id || !c->group || !*c->group)
            return fail_at(GS_FAILED, path, 0,
                           "damaged: cell %zu has no id, or no group; restore the file", i + 1);
    }
    if (p->n)
        qsort(p->cells, p->n, sizeof *p->cells, by_id);
    for (i = 1; i < p->n; i++)
        if (!by_id(&p->cells[i - 1], &p->cells[i]))
            return fail_at(GS_FAILED, path, 0, "damaged: cell %s is listed twice; restore the file",
                           p->cells[i].id);
    return GS_OK;
}

/* Readers visit every launch. */
static int check_launches(const struct ledger_plan *p, const char *path)
{
    const json_t *launches = json_object_get(p->root, "launches");
    json_int_t n = json_integer_value(launches);
    if (!launches || (n >= 1 && n <= SET_LAUNCHES_MAX))
        return GS_OK;
    return fail_at(GS_FAILED, path, 0,
                   "damaged: launches = %lld: must be 1 to %d; restore the file", (long long)n,
                   SET_LAUNCHES_MAX);
}

static int check_config(const struct ledger_plan *p, const char *dir)
{
    char hex[65];
    AUTO_FREE char *path = xstrfmt("%s/config.ini", dir);
    const char *planned = json_string_value(json_object_get(p->root, "config_sha256"));
    if (!planned)
        return GS_OK;
    CHECK(sha256_file(path, hex));
    return !strcmp(planned, hex)
               ? GS_OK
               : fail_at(GS_FAILED, path, 0,
                         "edited: its SHA-256 differs from the one in plan.json; restore the file");
}

int ledger_plan_read(struct ledger_plan *p, const char *dir)
{
    AUTO_FREE char *path = xstrfmt("%s/plan.json", dir);
    *p = (struct ledger_plan){0};
    CHECK(json_names_load(&p->root, path));
    if (p->root)
        CHECK(sha256_file(path, p->sha256));
    CHECK(check_launches(p, path));
    CHECK(index_cells(p, path));
    return check_config(p, dir);
}

void ledger_plan_free(struct ledger_plan *p)
{
    json_decref(p->root);
    free(p->cells);
    *p = (struct ledger_plan){0};
}

/* ---- one recording ---- */

struct seen { /* a (cell, copy) */
    char cell[PLAN_ID], group[PLAN_ID];
    int64_t copy, block; /* block: the last one read */
    int64_t blocks;      /* number read */
    bool closed;         /* its group line was read */
};

struct walk {
    const char *path;
    const struct ledger_check *check;
    struct raw *raw;
    size_t faults;
    bool ended;
    struct seen *seen;
    size_t n_seen;
};

static void fault(struct walk *w, const struct raw_line *l, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void fault(struct walk *w, const struct raw_line *l, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fail_at(GS_FAILED, w->path, (int)l->number, "%s", text);
    w->faults++;
}

/* Reads a member; raw.h reports a missing one. */
static bool counted(struct walk *w, bool there)
{
    w->faults += !there;
    return there;
}

static bool string(struct walk *w, const struct raw_line *l, const char *key, const char **out)
{
    return counted(w, raw_string(w->raw, l, key, out));
}

static bool integer(struct walk *w, const struct raw_line *l, const char *key, int64_t *out)
{
    return counted(w, raw_integer(w->raw, l, key, out));
}

/* From the end: the cells of the group that is being measured are the last. */
static struct seen *find(struct walk *w, const char *cell, int64_t copy)
{
    for (size_t i = w->n_seen; i-- > 0;)
        if (w->seen[i].copy == copy && !strcmp(w->seen[i].cell, cell))
            return &w->seen[i];
    return NULL;
}

/* ---- lines ---- */

static const char *recorded_hash(const struct raw_line *l, const char *key)
{
    return json_string_value(json_object_get(l->json, key));
}

/* The config in the header, which tables and reports name as that of the numbers. */
static void check_header_config(struct walk *w, const struct raw_line *l)
{
    const char *text = recorded_hash(l, "config"), *sha = recorded_hash(l, "config_sha256");
    char hex[65] = "";
    if (text && sha)
        sha256_hex(text, strlen(text), hex);
    if (*hex && strcmp(hex, sha))
        fault(w, l, "damaged: its config differs from its config_sha256; restore the file");
}

static void check_header(struct walk *w, const struct raw_line *l)
{
    const char *run_id, *name = path_name(w->path);
    int64_t launch, attempt;
    int by_name, attempt_by_name;
    const struct ledger_plan *plan = w->check->plan;
    if (string(w, l, "run_id", &run_id) && w->check->run_id && strcmp(run_id, w->check->run_id))
        fault(w, l, "foreign: recorded by run '%s', in the folder '%s'; name the folder as the run",
              run_id, w->check->run_id);
    if (integer(w, l, "launch", &launch) && integer(w, l, "attempt", &attempt) &&
        record_parse_name(name, &by_name, &attempt_by_name) &&
        (launch != by_name || attempt != attempt_by_name))
        fault(w, l, "foreign: its header names launch %lld, attempt %lld", (long long)launch,
              (long long)attempt);
    check_header_config(w, l);
    if (!plan || !plan->root)
        return;
    const char *sha = recorded_hash(l, "config_sha256"), *of_plan = recorded_hash(l, "plan_sha256");
    const char *planned = json_string_value(json_object_get(plan->root, "config_sha256"));
    if (sha && planned && strcmp(sha, planned))
        fault(w, l, "foreign: recorded with another config than plan.json's");
    if (of_plan && strcmp(of_plan, plan->sha256))
        fault(w, l, "foreign: recorded with another plan.json; restore that file");
}

static void check_cell(struct walk *w, const struct raw_line *l)
{
    const char *cell, *group;
    int64_t copy, size;
    if (!string(w, l, "cell", &cell) || !string(w, l, "group", &group) ||
        !integer(w, l, "copy", &copy) || !integer(w, l, "size_B", &size))
        return;
    if (find(w, cell, copy)) {
        fault(w, l, "cell %s, copy %lld is declared twice", cell, (long long)copy);
        return;
    }
    const struct ledger_plan *p = w->check->plan;
    const struct planned_cell key = {.id = cell}, *planned = NULL;
    if (p && p->n)
        planned = bsearch(&key, p->cells, p->n, sizeof *p->cells, by_id);
    if (p && p->root && !(planned && !strcmp(planned->group, group)))
        fault(w, l, "foreign: cell %s of group %s is not in plan.json", cell, group);
    ALLOC_MORE(w->seen, w->n_seen);
    struct seen *s = &w->seen[w->n_seen++];
    *s = (struct seen){.copy = copy};
    snprintf(s->cell, sizeof s->cell, "%s", cell);
    snprintf(s->group, sizeof s->group, "%s", group);
}

static void check_block(struct walk *w, const struct raw_line *l)
{
    const char *cell;
    int64_t copy, block, iters;
    if (!string(w, l, "cell", &cell) || !integer(w, l, "copy", &copy) ||
        !integer(w, l, "block", &block) || !integer(w, l, "iters", &iters))
        return;
    struct seen *s = find(w, cell, copy);
    if (!s) {
        fault(w, l, "a block of cell %s, copy %lld comes before its cell line", cell,
              (long long)copy);
        return;
    }
    if (s->closed)
        fault(w, l, "a block of cell %s comes after its group was closed", cell);
    else if (strcmp(s->group, w->seen[w->n_seen - 1].group))
        fault(w, l, "a block of cell %s is among those of group %s", cell,
              w->seen[w->n_seen - 1].group);
    if (copy < 0 || copy > 1 || block < 1 || block > INT32_MAX || iters > INT32_MAX)
        fault(w, l, "copy %lld, block %lld, iters=%lld: out of range", (long long)copy,
              (long long)block, (long long)iters);
    if (block <= s->block)
        fault(w, l, "block %lld of cell %s comes after block %lld", (long long)block, cell,
              (long long)s->block);
    s->block = block;
    s->blocks++;
    if (iters < 1)
        fault(w, l, "iters=%lld: must be at least 1", (long long)iters);
    if (l->n == 0)
        fault(w, l, "a block without samples");
    for (size_t i = 0; i < l->n; i++)
        if (l->time_ns[i] == 0) {
            fault(w, l, "sample %zu is 0 ns: must be positive", i + 1);
            break;
        }
}

/* What a fail line can name; whether its cell is measured again. */
static const struct {
    const char *name;
    bool again; /* up to `retries` times: the process died, and the next try may succeed */
} fail_kinds[] = {
    {"skip", false}, {"failed", false}, {"wrong", false},
    {"crash", true}, {"hang", true},    {"lost", true},
};

static void check_fail(struct walk *w, const struct raw_line *l)
{
    const char *cell, *kind, *why;
    if (!string(w, l, "cell", &cell) || !string(w, l, "kind", &kind) || !string(w, l, "why", &why))
        return;
    for (size_t i = 0; i < COUNT(fail_kinds); i++)
        if (!strcmp(fail_kinds[i].name, kind))
            return;
    fault(w, l, "unknown kind '%s' (known: skip, failed, wrong, crash, hang, lost)", kind);
}

/* A group line counts the blocks of its cells, so a removed block line is found. */
static void check_counts(struct walk *w, const struct raw_line *l)
{
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(l->json, "cells"), i, o)
    {
        const char *cell = json_string_value(json_object_get(o, "cell"));
        const json_t *blocks = json_object_get(o, "blocks");
        const struct seen *s =
            cell ? find(w, cell, json_integer_value(json_object_get(o, "copy"))) : NULL;
        if (s && json_is_integer(blocks) && json_integer_value(blocks) != s->blocks)
            fault(w, l, "cell %s has %lld blocks, but its group line counts %lld", cell,
                  (long long)s->blocks, (long long)json_integer_value(blocks));
    }
}

static void check_group(struct walk *w, const struct raw_line *l)
{
    const char *group;
    if (!string(w, l, "group", &group))
        return;
    if (!w->faults) /* a faulty block was reported and is not counted */
        check_counts(w, l);
    for (size_t i = 0; i < w->n_seen; i++)
        if (!strcmp(w->seen[i].group, group)) {
            if (w->seen[i].closed) {
                fault(w, l, "group %s is closed twice", group);
                return;
            }
            w->seen[i].closed = true;
        }
}

static void check_end(struct walk *w, const struct raw_line *l)
{
    const char *status;
    string(w, l, "status", &status);
    w->ended = true;
}

static void check_line(struct walk *w, const struct raw_line *l)
{
    static void (*const checks[])(struct walk *, const struct raw_line *) = {
        [RAW_HEADER] = check_header, [RAW_NOTE] = NULL,     [RAW_CELL] = check_cell,
        [RAW_BLOCK] = check_block,   [RAW_HEALTH] = NULL,   [RAW_FAIL] = check_fail,
        [RAW_GROUP] = check_group,   [RAW_END] = check_end,
    };
    size_t faults = w->faults;
    if (w->ended)
        fault(w, l, "a line comes after the end line");
    if (checks[l->type])
        checks[l->type](w, l);
    if (w->faults == faults && w->check->line)
        w->check->line(w->check->ctx, w->raw, l);
}

/* ---- the file ---- */

int ledger_check_file(const char *path, const struct ledger_check *check, bool *torn)
{
    struct walk w = {.path = path, .check = check};
    struct raw_line l;
    if (raw_open(&w.raw, path))
        return GS_FAILED;
    raw_without_trees(w.raw,
                      (1u << RAW_NOTE | 1u << RAW_CELL | 1u << RAW_BLOCK | 1u << RAW_HEALTH) &
                          ~check->trees);
    for (int got; w.faults < LEDGER_FAULTS_MAX && (got = raw_next(w.raw, ~0u, &l)) != 0;) {
        if (got < 0)
            w.faults++;
        else
            check_line(&w, &l);
    }
    if (w.faults >= LEDGER_FAULTS_MAX)
        fail_at(GS_FAILED, path, 0, "more than %d faults; the rest of the file was not checked",
                LEDGER_FAULTS_MAX - 1);
    *torn = raw_torn(w.raw);
    if (!w.faults)
        raw_set_checked(w.raw);
    raw_close(w.raw);
    free(w.seen);
    return w.faults ? GS_FAILED : GS_OK;
}

/* ---- the ledger: lines, which were checked before ---- */

struct reading {
    struct ledger *ledger;
    size_t file;
    const struct ledger_reader *reader; /* NULL: none */
    int code;                           /* its */
};

static char *copy_of(const struct raw_line *line, const char *key)
{
    return xstrdup(json_string_value(json_object_get(line->json, key)));
}

static void add_fail(struct ledger *l, const struct ledger_file *f, const struct raw_line *line)
{
    const char *host = json_text_of(line->json, "host");
    int rank = (int)json_integer_of(line->json, "rank");
    ALLOC_MORE(l->fails, l->n_fails);
    struct ledger_fail *x = &l->fails[l->n_fails++];
    *x = (struct ledger_fail){.launch = f->launch,
                              .attempt = f->attempt,
                              .kind = copy_of(line, "kind"),
                              .why = copy_of(line, "why"),
                              .where =
                                  *host && rank >= 0 ? xstrfmt("rank %d on %s", rank, host) : NULL};
    snprintf(x->cell, sizeof x->cell, "%s", json_string_value(json_object_get(line->json, "cell")));
}

static void add_line(void *ctx, const struct raw *raw, const struct raw_line *line)
{
    struct reading *r = ctx;
    struct ledger *l = r->ledger;
    struct ledger_file *f = &l->files[r->file];
    if (r->reader && !r->code)
        r->code = r->reader->line(r->reader->ctx, l, r->file, raw, line);
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

static int read_recording(struct ledger *l, size_t file, const char *run_id,
                          const struct ledger_reader *reader)
{
    struct reading r = {.ledger = l, .file = file, .reader = reader};
    const struct ledger_check check = {.plan = &l->plan,
                                       .run_id = run_id ? run_id : l->run_id,
                                       .line = add_line,
                                       .ctx = &r,
                                       .trees = reader ? 1u << RAW_CELL | 1u << RAW_HEALTH : 0};
    int code = ledger_check_file(l->files[file].path, &check, &l->files[file].torn);
    return code ? code : r.code;
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

int ledger_read_of(struct ledger **out, const char *dir, const char *run_id,
                   const struct ledger_reader *reader)
{
    struct ledger *l = xcalloc(1, sizeof *l);
    l->dir = xstrdup(dir);
    int code = list_recordings(l);
    TRY(code, ledger_plan_read(&l->plan, dir));
    bool plan_read = !code;
    for (size_t i = 0; plan_read && i < l->n_files; i++) {
        int one = read_recording(l, i, run_id, reader);
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
    return ledger_read_of(out, dir, NULL, NULL);
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
    ledger_plan_free(&l->plan);
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

static bool tried_again(const char *kind)
{
    for (size_t i = 0; i < COUNT(fail_kinds); i++)
        if (!strcmp(fail_kinds[i].name, kind))
            return fail_kinds[i].again;
    return false;
}

const struct ledger_fail *ledger_given_up(const struct ledger *l, int launch, const char *cell,
                                          int64_t retries)
{
    const struct ledger_fail *last = NULL;
    int64_t deaths = 0;
    for (size_t i = 0; i < l->n_fails; i++) {
        const struct ledger_fail *f = &l->fails[i];
        if (f->launch == launch && !strcmp(f->cell, cell) &&
            (!tried_again(f->kind) || ++deaths > retries))
            last = f;
    }
    return last;
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

/* ---- one run folder ---- */

char *ledger_run_id(const char *dir)
{
    AUTO_FREE char *whole = realpath(dir, NULL);
    return xstrdup(whole ? path_name(whole) : dir);
}

int ledger_check_run(const char *dir)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    AUTO_FREE char *run_id = ledger_run_id(dir);
    int code = ledger_read_of(&l, dir, run_id, NULL);
    for (size_t i = 0; !code && i < l->n_files; i++)
        if (l->files[i].torn)
            say("%s: ignoring the incomplete last line", l->files[i].path);
    return code;
}

int ledger_check_final(const char *dir)
{
    if (!ledger_check_run(dir))
        return GS_OK;
    return fail_at(GS_FAILED, dir, 0,
                   "cannot be completed: a recording is damaged; restore it, or move it away and "
                   "'gradsync resume' measures its launch again");
}
