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

/* ---- cells ---- */

size_t ledger_find(const struct ledger *l, const char *id)
{
    const json_t *place = json_object_get(l->places, id);
    return place ? (size_t)json_integer_value(place) : l->n_cells;
}

static void add_cell(struct ledger *l, const char *id, const char *group)
{
    struct ledger_cell *c = &APPEND(l->cells, l->n_cells);
    snprintf(c->id, sizeof c->id, "%s", id);
    snprintf(c->group, sizeof c->group, "%s", group);
    json_object_set_new(l->places, id, json_integer((json_int_t)l->n_cells - 1));
}

/* GS_OK, or GS_FAILED, reported: plan.json is damaged, or config.ini is not the planned config. */
static int read_plan(struct ledger *l)
{
    AUTO_FREE char *path = xstrfmt("%s/plan.json", l->dir),
                   *config = xstrfmt("%s/config.ini", l->dir);
    char hex[65];
    size_t i;
    json_t *o;
    l->places = json_object();
    CHECK(json_names_load(&l->plan, path));
    if (!l->plan)
        return GS_OK;
    CHECK(sha256_file(path, l->plan_sha256));
    const json_t *launches = json_object_get(l->plan, "launches");
    json_int_t n = json_integer_value(launches);
    if (launches && (n < 1 || n > SET_LAUNCHES_MAX)) /* readers visit every launch */
        return fail_at(GS_FAILED, path, 0,
                       "damaged: launches = %lld: must be 1 to %d; restore the file", (long long)n,
                       SET_LAUNCHES_MAX);
    json_array_foreach(json_object_get(l->plan, "cells"), i, o)
    {
        const char *id = json_text_of(o, "id"), *group = json_text_of(o, "group");
        if (!*id || !*group)
            return fail_at(GS_FAILED, path, 0,
                           "damaged: cell %zu has no id, or no group; restore the file", i + 1);
        if (ledger_find(l, id) < l->n_cells)
            return fail_at(GS_FAILED, path, 0, "damaged: cell %s is listed twice; restore the file",
                           id);
        add_cell(l, id, group);
    }
    const char *planned = json_string_value(json_object_get(l->plan, "config_sha256"));
    if (!planned)
        return GS_OK;
    CHECK(sha256_file(config, hex));
    return !strcmp(planned, hex)
               ? GS_OK
               : fail_at(GS_FAILED, config, 0,
                         "edited: its SHA-256 differs from the one in plan.json; restore the file");
}

/* ---- one recording ---- */

struct seen { /* of a cell and copy in this file */
    bool declared;
    int64_t block, blocks; /* the last one read, and how many were read */
};

struct walk {
    const char *path;
    const char *run_id;                 /* NULL: of any run */
    struct ledger *ledger;              /* takes the lines without a fault */
    size_t file;                        /* in it */
    const struct ledger_reader *reader; /* takes them, too; NULL: none */
    int code;                           /* its */
    struct raw *raw;
    size_t faults;
    struct seen *seen; /* of both copies of each cell of the ledger */
    size_t n_seen;
    size_t cell;         /* of the last cell or block */
    char group[PLAN_ID]; /* of the last cell line */
    bool closed;         /* that group */
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

/* NULL: the file has no such cell line before. */
static struct seen *find_seen(struct walk *w, const char *cell, int64_t copy)
{
    w->cell = ledger_find(w->ledger, cell);
    size_t at = 2 * w->cell + (size_t)copy;
    return (copy == 0 || copy == 1) && at < w->n_seen && w->seen[at].declared ? &w->seen[at] : NULL;
}

/* ---- lines ---- */

static const char *recorded_hash(const struct raw_line *l, const char *key)
{
    return json_string_value(json_object_get(l->json, key));
}

static void check_header(struct walk *w, const struct raw_line *l)
{
    const char *run_id, *name = path_name(w->path);
    int64_t launch, attempt;
    int by_name, attempt_by_name;
    const json_t *plan = w->ledger->plan;
    if (string(w, l, "run_id", &run_id) && w->run_id && strcmp(run_id, w->run_id))
        fault(w, l, "foreign: recorded by run '%s', in the folder '%s'; name the folder as the run",
              run_id, w->run_id);
    if (integer(w, l, "launch", &launch) && integer(w, l, "attempt", &attempt) &&
        record_parse_name(name, &by_name, &attempt_by_name) &&
        (launch != by_name || attempt != attempt_by_name))
        fault(w, l, "foreign: its header names launch %lld, attempt %lld", (long long)launch,
              (long long)attempt);
    /* Tables and reports name it as the config of the numbers. */
    const char *text = recorded_hash(l, "config"), *sha = recorded_hash(l, "config_sha256");
    char hex[65] = "";
    if (text && sha)
        sha256_hex(text, strlen(text), hex);
    if (*hex && strcmp(hex, sha))
        fault(w, l, "damaged: its config differs from its config_sha256; restore the file");
    if (!plan)
        return;
    const char *of_plan = recorded_hash(l, "plan_sha256");
    const char *planned = json_string_value(json_object_get(plan, "config_sha256"));
    if (sha && planned && strcmp(sha, planned))
        fault(w, l, "foreign: recorded with another config than plan.json's");
    if (of_plan && strcmp(of_plan, w->ledger->plan_sha256))
        fault(w, l, "foreign: recorded with another plan.json; restore that file");
}

static void check_cell(struct walk *w, const struct raw_line *l)
{
    const char *cell, *group;
    int64_t copy, size;
    if (!string(w, l, "cell", &cell) || !string(w, l, "group", &group) ||
        !integer(w, l, "copy", &copy) || !integer(w, l, "size_B", &size))
        return;
    struct ledger *of = w->ledger;
    if (find_seen(w, cell, copy)) {
        fault(w, l, "cell %s, copy %lld is declared twice", cell, (long long)copy);
        return;
    }
    bool known = w->cell < of->n_cells;
    if (of->plan ? !known || strcmp(of->cells[w->cell].group, group)
                 : known && strcmp(of->cells[w->cell].group, group))
        fault(w, l, "foreign: cell %s of group %s is not in %s", cell, group,
              of->plan ? "plan.json" : "the launches before");
    else if (copy != 0 && copy != 1)
        fault(w, l, "copy %lld: must be 0 or 1", (long long)copy);
    else {
        if (!known)
            add_cell(of, cell, group);
        while (w->n_seen < 2 * of->n_cells)
            APPEND(w->seen, w->n_seen) = (struct seen){0};
        w->seen[2 * w->cell + (size_t)copy].declared = true;
        w->closed = w->closed && !strcmp(w->group, group);
        snprintf(w->group, sizeof w->group, "%s", group);
    }
}

static void check_block(struct walk *w, const struct raw_line *l)
{
    const char *cell;
    int64_t copy, block, iters;
    if (!string(w, l, "cell", &cell) || !integer(w, l, "copy", &copy) ||
        !integer(w, l, "block", &block) || !integer(w, l, "iters", &iters))
        return;
    struct seen *s = find_seen(w, cell, copy);
    if (!s) {
        fault(w, l, "a block of cell %s, copy %lld comes before its cell line", cell,
              (long long)copy);
        return;
    }
    if (strcmp(w->ledger->cells[w->cell].group, w->group))
        fault(w, l, "a block of cell %s is among those of group %s", cell, w->group);
    else if (w->closed)
        fault(w, l, "a block of cell %s comes after its group was closed", cell);
    if (block < 1 || block > INT32_MAX || iters > INT32_MAX)
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

static void check_group(struct walk *w, const struct raw_line *l)
{
    const char *group;
    if (!string(w, l, "group", &group))
        return;
    size_t at;
    json_t *o;
    /* It counts the blocks of its cells, so a removed line is found. A faulty one was reported and is not
     * counted. */
    json_array_foreach(w->faults ? NULL : json_object_get(l->json, "cells"), at, o)
    {
        const char *cell = json_text_of(o, "cell");
        const json_t *blocks = json_object_get(o, "blocks");
        const struct seen *s = find_seen(w, cell, json_integer_of(o, "copy"));
        if (s && json_is_integer(blocks) && json_integer_value(blocks) != s->blocks)
            fault(w, l, "cell %s has %lld blocks, but its group line counts %lld", cell,
                  (long long)s->blocks, (long long)json_integer_value(blocks));
    }
    const struct ledger_file *f = &w->ledger->files[w->file];
    for (size_t i = 0; i < f->n_closed; i++)
        if (!strcmp(f->closed[i], group))
            fault(w, l, "group %s is closed twice", group);
    w->closed = w->closed || !strcmp(w->group, group);
}

/* ---- the ledger: lines without a fault ---- */

static char *copy_of(const struct raw_line *line, const char *key)
{
    return xstrdup(json_string_value(json_object_get(line->json, key)));
}

static void add_line(struct walk *w, const struct raw_line *line)
{
    struct ledger *l = w->ledger;
    struct ledger_file *f = &l->files[w->file];
    if (w->reader && !w->code && !w->faults)
        w->code = w->reader->line(w->reader->ctx, l, w->file, w->cell, w->raw, line);
    if (line->type == RAW_HEADER && !l->run_id)
        l->run_id = copy_of(line, "run_id");
    else if (line->type == RAW_END)
        f->status = copy_of(line, "status");
    else if (line->type == RAW_GROUP)
        APPEND(f->closed, f->n_closed) = copy_of(line, "group");
    else if (line->type == RAW_FAIL) {
        const char *host = json_text_of(line->json, "host");
        int rank = (int)json_integer_of(line->json, "rank");
        struct ledger_fail *x = &APPEND(l->fails, l->n_fails);
        *x = (struct ledger_fail){.launch = f->launch,
                                  .attempt = f->attempt,
                                  .kind = copy_of(line, "kind"),
                                  .why = copy_of(line, "why"),
                                  .where = *host && rank >= 0 ? xstrfmt("rank %d on %s", rank, host)
                                                              : NULL};
        for (size_t k = 0; k < COUNT(fail_kinds); k++)
            x->again = x->again || (fail_kinds[k].again && !strcmp(fail_kinds[k].name, x->kind));
        snprintf(x->cell, sizeof x->cell, "%s", json_text_of(line->json, "cell"));
    }
}

/* ---- the file ---- */

static int walk_file(struct ledger *ledger, size_t file, const char *run_id,
                     const struct ledger_reader *reader)
{
    const unsigned simple = 1u << RAW_NOTE | 1u << RAW_CELL | 1u << RAW_BLOCK | 1u << RAW_HEALTH;
    static void (*const checks[])(struct walk *, const struct raw_line *) = {
        [RAW_HEADER] = check_header, [RAW_NOTE] = NULL,   [RAW_CELL] = check_cell,
        [RAW_BLOCK] = check_block,   [RAW_HEALTH] = NULL, [RAW_FAIL] = check_fail,
        [RAW_GROUP] = check_group,   [RAW_END] = NULL,
    };
    struct walk w = {.path = ledger->files[file].path,
                     .run_id = run_id ? run_id : ledger->run_id,
                     .ledger = ledger,
                     .file = file,
                     .reader = reader};
    struct raw_line l;
    const char *status;
    bool ended = false;
    CHECK(raw_open(&w.raw, w.path));
    raw_without_trees(w.raw, simple & ~(w.reader ? 1u << RAW_HEALTH : 0));
    for (int got; w.faults < LEDGER_FAULTS_MAX && (got = raw_next(w.raw, ~0u, &l)) != 0;) {
        size_t faults = w.faults;
        if (got < 0) {
            w.faults++;
            continue;
        }
        if (ended)
            fault(&w, &l, "a line comes after the end line");
        ended = ended || l.type == RAW_END;
        if (l.type == RAW_END)
            string(&w, &l, "status", &status);
        if (checks[l.type])
            checks[l.type](&w, &l);
        if (w.faults == faults)
            add_line(&w, &l);
    }
    if (w.faults >= LEDGER_FAULTS_MAX)
        fail_at(GS_FAILED, w.path, 0, "more than %d faults; the rest of the file was not checked",
                LEDGER_FAULTS_MAX - 1);
    ledger->files[file].torn = raw_torn(w.raw);
    if (!w.faults)
        raw_set_checked(w.raw);
    raw_close(w.raw);
    free(w.seen);
    return w.faults ? GS_FAILED : w.code;
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
    TRY(code, read_plan(l));
    bool plan_read = !code;
    for (size_t i = 0; plan_read && i < l->n_files; i++) {
        int one = walk_file(l, i, run_id, code ? NULL : reader);
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
    json_decref(l->plan);
    json_decref(l->places);
    free(l->cells);
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

const struct ledger_fail *ledger_given_up(const struct ledger *l, int launch, const char *cell,
                                          int64_t retries)
{
    const struct ledger_fail *last = NULL;
    int64_t deaths = 0;
    for (size_t i = 0; i < l->n_fails; i++) {
        const struct ledger_fail *f = &l->fails[i];
        size_t k = 0;
        while (strcmp(fail_kinds[k].name, f->kind) !=
               0) /* it is one of them: the line was checked */
            k++;
        if (f->launch == launch && !strcmp(f->cell, cell) &&
            (!fail_kinds[k].again || ++deaths > retries))
            last = f;
    }
    return last;
}

size_t ledger_missing(const struct ledger *l, const struct plan *p, int launch, bool *missing)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_groups; i++) {
        const struct group *g = &p->groups[i];
        bool lacking = false;
        for (size_t k = g->first; k < g->first + g->n && !lacking; k++)
            lacking = !ledger_given_up(l, launch, p->cells[k].id, p->set.measure.retries);
        lacking = lacking && !ledger_closed(l, launch, g->id, NULL);
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

/* ---- checks ---- */

char *ledger_run_id(const char *dir)
{
    AUTO_FREE char *whole = realpath(dir, NULL);
    return xstrdup(whole ? path_name(whole) : dir);
}

static int say_torn(const struct ledger *l, int code)
{
    for (size_t i = 0; !code && i < l->n_files; i++)
        if (l->files[i].torn)
            say("%s: ignoring the incomplete last line", l->files[i].path);
    return code;
}

int ledger_check_file(const char *path)
{
    AUTO(ledger_free_of) struct ledger *l = xcalloc(1, sizeof *l);
    const char *slash = strrchr(path, '/');
    l->dir = slash ? xstrfmt("%.*s", (int)(slash - path), path) : xstrdup(".");
    struct ledger_file *f = &APPEND(l->files, l->n_files);
    *f = (struct ledger_file){.path = xstrdup(path)};
    record_parse_name(path_name(path), &f->launch, &f->attempt);
    int code = read_plan(l);
    AUTO_FREE char *run_id = l->plan ? ledger_run_id(l->dir) : NULL;
    TRY(code, walk_file(l, 0, run_id, NULL));
    return say_torn(l, code);
}

int ledger_check_run(const char *dir)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    AUTO_FREE char *run_id = ledger_run_id(dir);
    int code = ledger_read_of(&l, dir, run_id, NULL);
    return code ? code : say_torn(l, code);
}

int ledger_check_final(const char *dir)
{
    if (!ledger_check_run(dir))
        return GS_OK;
    return fail_at(GS_FAILED, dir, 0,
                   "cannot be completed: a recording is damaged; restore it, or move it away and "
                   "'gradsync resume' measures its launch again");
}
