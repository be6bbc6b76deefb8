/* SPDX-License-Identifier: Apache-2.0 */
#include "record/check_recording.h"

#include "base/err.h"
#include "base/sha256.h"
#include "base/text.h"
#include "plan/plan.h"
#include "record/record.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct seen { /* a (cell, copy) */
    char cell[PLAN_ID], group[PLAN_ID];
    int64_t copy, block; /* block: the last one read */
    int64_t blocks;      /* number read */
    bool closed;         /* its group line was read */
};

struct walk {
    const char *path;
    const struct check *check;
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
static void check_config(struct walk *w, const struct raw_line *l)
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
    const struct check_plan *plan = w->check->plan;
    if (string(w, l, "run_id", &run_id) && w->check->run_id && strcmp(run_id, w->check->run_id))
        fault(w, l, "foreign: recorded by run '%s', in the folder '%s'; name the folder as the run",
              run_id, w->check->run_id);
    if (integer(w, l, "launch", &launch) && integer(w, l, "attempt", &attempt) &&
        record_parse_name(name, &by_name, &attempt_by_name) &&
        (launch != by_name || attempt != attempt_by_name))
        fault(w, l, "foreign: its header names launch %lld, attempt %lld", (long long)launch,
              (long long)attempt);
    check_config(w, l);
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
    if (w->check->plan && !check_plan_has(w->check->plan, cell, group))
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

static void check_fail(struct walk *w, const struct raw_line *l)
{
    static const char *const kinds[] = {"skip", "failed", "wrong", "crash", "hang", "lost"};
    const char *cell, *kind, *why;
    if (!string(w, l, "cell", &cell) || !string(w, l, "kind", &kind) || !string(w, l, "why", &why))
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i], kind))
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
        w->check->line(w->check->ctx, l);
}

/* ---- the file ---- */

int check_recording(const char *path, const struct check *check, bool *torn)
{
    struct walk w = {.path = path, .check = check};
    struct raw_line l;
    if (raw_open(&w.raw, path))
        return GS_FAILED;
    raw_without_trees(w.raw, 1u << RAW_NOTE | 1u << RAW_CELL | 1u << RAW_BLOCK | 1u << RAW_HEALTH);
    for (int got; w.faults < CHECK_MAX_FAULTS && (got = raw_next(w.raw, ~0u, &l)) != 0;) {
        if (got < 0)
            w.faults++;
        else
            check_line(&w, &l);
    }
    if (w.faults >= CHECK_MAX_FAULTS)
        fail_at(GS_FAILED, path, 0, "more than %d faults; the rest of the file was not checked",
                CHECK_MAX_FAULTS - 1);
    *torn = raw_torn(w.raw);
    raw_close(w.raw);
    free(w.seen);
    return w.faults ? GS_FAILED : GS_OK;
}
