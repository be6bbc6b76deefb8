/* SPDX-License-Identifier: Apache-2.0 */
#include "record/runs.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/shell.h"
#include "base/text.h"
#include "config/locate.h"
#include "config/settings_tables.h"
#include "record/raw.h"
#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *run_completed_by(const char *dir)
{
    AUTO_FREE char *jobs = xstrfmt("%s/" RUNS_JOBS, dir);
    return xstrfmt("gradsync %s %s", access(jobs, F_OK) ? "resume" : "submit", SHELL_WORD(dir));
}

char *run_how_completed(const char *dir)
{
    AUTO_FREE char *path = xstrfmt("%s/plan.json", dir), *command = run_completed_by(dir);
    AUTO_JSON json_t *plan = json_load_file(path, 0, NULL);
    AUTO_FREE char *tune = xstrfmt("%s/tune.json", dir);
    const char *section = json_text_of(plan, "section");
    if (!plan && access(tune, F_OK)) /* visits inside a job: tune has its state in another run */
        return xstrdup("to complete it, resume the run of tune that it is part of");
    return section && train_is_section(section)
               ? xstrfmt("nothing completes it, as the verb 'train' that measured it is gone")
               : xstrfmt("to complete it: %s", command);
}

/* ---- run folders ---- */

#define DEPTH 16 /* limit of nested folders: a link may point to a parent */

bool runs_is_run(const char *dir)
{
    AUTO_WORDS struct words paths = {0};
    record_list(dir, &paths);
    return paths.n > 0;
}

static bool take_any(void *ctx, const struct raw_line *l)
{
    (void)l;
    *(bool *)ctx = true;
    return false;
}

bool runs_measured(const char *dir)
{
    char ignored[1];
    bool measured = false;
    err_capture(ignored, sizeof ignored);
    int code = raw_each(dir, 1u << RAW_BLOCK, take_any, &measured);
    err_capture(NULL, 0);
    return code || measured;
}

/* ---- keys ---- */

/* Of the first recording with a header. */
static bool take_key(void *ctx, const struct raw_line *l)
{
    struct run_folder *run = ctx;
    /* The machine that rank 0 ran on. In a lab, each site has a host name of its own. */
    const char *lab = json_text_of(json_object_get(l->json, "lab"), "host");
    const json_t *first = json_array_get(json_object_get(l->json, "hosts"), 0);
    run->key = xstrfmt("%s\n%s\n%s\n%s\n", json_text_of(l->json, "platform"),
                       json_text_of(l->json, "workload"), json_text_of(l->json, "label"),
                       json_text_of(l->json, "run_id"));
    run->host = xstrdup(*lab ? lab : json_text_of(first, "host"));
    return false;
}

/* ---- folders ---- */

static int find(struct runs *r, const char *dir, int depth);

static int find_run(struct runs *r, const char *dir, bool named)
{
    struct run_folder run = {0};
    int code = r->unsorted ? GS_OK : raw_each(dir, 1u << RAW_HEADER, take_key, &run);
    if (!code && !run.key && named) { /* keyed by its path, as it has no header yet */
        run.key = xstrdup(dir);
        run.host = xstrdup("");
    }
    if (run.key || r->unsorted) {
        run.dir = xstrdup(dir);
        APPEND(r->v, r->n) = run;
    } else if (!code)
        say("%s: ignored: nothing is recorded yet", dir);
    return code;
}

static int find_below(struct runs *r, const char *dir, int depth)
{
    AUTO_WORDS struct words names = {0};
    int code = GS_OK;
    if (!files_list(dir, "*", &names))
        return errno == ENOTDIR && !access(dir, F_OK)
                   ? fail_at(GS_USAGE, dir, 0,
                             "is a file; give a run folder, a platform or the id of a run")
                   : locate_failed(GS_USAGE, dir, LOCATE_RUN);
    for (size_t i = 0; i < names.n; i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s", dir, names.v[i]);
        int one = files_is_folder(path) ? find(r, path, depth + 1) : GS_OK;
        code = code ? code : one;
    }
    return code;
}

static int find(struct runs *r, const char *dir, int depth)
{
    if (depth > DEPTH)
        return GS_OK;
    return runs_is_run(dir) ? find_run(r, dir, depth == 0) : find_below(r, dir, depth);
}

int runs_find(struct runs *r, const char *root)
{
    char *platform = locate_platform(root), *path = platform ? platform : locate_run(root);
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/';)
        path[--n] = '\0';
    int code = find(r, path, 0);
    free(path);
    return code;
}

enum { NAMES_DEPTH = 3 }; /* platform, workload, run */

static int names_below(struct words *names, const char *root, const char *below, int depth)
{
    AUTO_WORDS struct words entries = {0};
    AUTO_FREE char *dir = xstrfmt("%s%s", root, below);
    int code = GS_OK;
    files_list(dir, "*", &entries);
    if (depth == NAMES_DEPTH && runs_is_run(dir))
        words_add(names, below + 1);
    for (size_t i = 0; i < entries.n && !code; i++) {
        const char *name = entries.v[i];
        AUTO_FREE char *path = xstrfmt("%s/%s", dir, name), *next = xstrfmt("%s/%s", below, name);
        bool folder = files_is_folder(path);
        if ((folder || depth == NAMES_DEPTH) && !printable_name(name))
            code =
                fail_at(GS_FAILED, path, 0, "is not a name (%s); rename it", PRINTABLE_NAME_RULE);
        else if (folder && depth < NAMES_DEPTH)
            code = names_below(names, root, next, depth + 1);
    }
    return code;
}

int runs_names(struct words *names, const char *root)
{
    return names_below(names, root, "", 0);
}

static int by_key(const void *a, const void *b)
{
    const struct run_folder *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : strcmp(x->dir, y->dir);
}

int runs_sort(struct runs *r)
{
    int code = GS_OK;
    if (r->n)
        qsort(r->v, r->n, sizeof *r->v, by_key);
    for (size_t i = 1; i < r->n; i++)
        if (!strcmp(r->v[i - 1].key, r->v[i].key))
            code = fail_at(GS_USAGE, r->v[i].dir, 0, "the same run as %s; name only one of them",
                           r->v[i - 1].dir);
    return code;
}

static int none_below(const char *root)
{
    AUTO_FREE char *dir = locate_run(root), *plan = xstrfmt("%s/plan.json", dir),
                   *tune = xstrfmt("%s/tune.json", dir);
    if (!access(tune, F_OK))
        return fail(GS_USAGE,
                    "%s is the run of a tune, which has no table; its answer: gradsync "
                    "compare %s",
                    dir, SHELL_WORD(dir));
    if (access(plan, F_OK))
        return fail(GS_USAGE,
                    "no recording below %s; make one with: gradsync tune -- COMMAND (of your "
                    "job), or gradsync run CONFIG (of this machine)",
                    root);
    return fail(GS_USAGE, "nothing was measured in %s; to measure it: gradsync resume %s", dir,
                SHELL_WORD(dir));
}

int runs_below(struct runs *r, const char *const *roots, size_t n)
{
    for (size_t i = 0; i < n; i++)
        CHECK(runs_find(r, roots[i]));
    CHECK(runs_sort(r));
    return r->n ? GS_OK : none_below(roots[0]);
}

static void run_folder_free(struct run_folder *run)
{
    free(run->dir);
    free(run->key);
    free(run->host);
    free(run->section);
    free(run->rank);
}

void runs_free(struct runs *r)
{
    for (size_t i = 0; i < r->n; i++)
        run_folder_free(&r->v[i]);
    free(r->v);
    *r = (struct runs){0};
}

bool run_is_final(const char *dir)
{
    AUTO_FREE char *manifest = xstrfmt("%s/" RECORD_MANIFEST, dir);
    return access(manifest, F_OK) == 0;
}

/* ---- which run stands for a section ---- */

#define SUMS "data/SHA256SUMS" /* lists the recordings of the repository */

/* ---- order ---- */

char *runs_rank(bool complete, bool measured, const char *run_id)
{
    return xstrfmt("%d %s", 2 * complete + measured, run_id);
}

char *runs_section(const char *key, const char *group)
{
    const char *workload = strchr(key, '\n');
    bool job =
        workload && (!strncmp(workload, "\ntrial\n", 7) || !strncmp(workload, "\ntrain\n", 7));
    size_t n = 0;
    for (int lines = 0; lines < 3 && key[n]; n++) /* platform, workload, label */
        lines += key[n] == '\n';
    return xstrfmt("%.*s%s", (int)n, key, job && group ? group : "");
}

static bool is_later(const struct run_folder *a, const struct run_folder *b)
{
    AUTO_FREE char *x = runs_rank(false, runs_measured(a->dir), path_name(a->dir));
    AUTO_FREE char *y = runs_rank(false, runs_measured(b->dir), path_name(b->dir));
    return strcmp(x, y) > 0;
}

const struct run_folder *runs_choice_latest(const struct choice *c)
{
    const struct run_folder *latest = NULL;
    for (size_t i = 0; i < c->runs.n; i++)
        if (!latest || is_later(&c->runs.v[i], latest))
            latest = &c->runs.v[i];
    return latest;
}

/* ---- this machine ---- */

static bool is_platform(const struct run_folder *run, const char *name)
{
    size_t n = strlen(name);
    return !strncmp(run->key, name, n) && run->key[n] == '\n';
}

static bool is_here(const struct run_folder *run, const struct text *sums)
{
    char host[256] = "";
    AUTO_FREE char *path = xstrfmt("  %s/", run->dir);
    if (is_platform(run, "local"))
        return true;
    /* A host name does not tell of what is part of the repository: many machines are called `vm`. */
    if (gethostname(host, sizeof host - 1) || !*host || (sums->len && strstr(sums->s, path)))
        return false;
    return is_platform(run, host) || !strcmp(run->host, host);
}

static const struct run_folder *latest_here(const struct runs *runs)
{
    AUTO_TEXT struct text sums = {0};
    const struct run_folder *latest = NULL;
    files_read(SUMS, FILES_ANY, FILES_WHOLE_MAX, &sums); /* a folder of recordings may have none */
    for (size_t i = 0; i < runs->n; i++)
        if (is_here(&runs->v[i], &sums) && (!latest || is_later(&runs->v[i], latest)))
            latest = &runs->v[i];
    return latest;
}

/* ---- the latest of each section ---- */

static void drop(struct runs *runs, size_t i)
{
    run_folder_free(&runs->v[i]);
    memmove(runs->v + i, runs->v + i + 1, (--runs->n - i) * sizeof *runs->v);
}

static bool take_group(void *ctx, const struct raw_line *l)
{
    char **first = ctx;
    const char *group = json_text_of(l->json, "group");
    if (!*first || strcmp(group, *first) < 0)
        xstrset(first, group);
    return true;
}

static void keep_latest(struct choice *c)
{
    for (size_t i = 0; i < c->runs.n; i++) {
        struct run_folder *run = &c->runs.v[i];
        AUTO_FREE char *group = NULL;
        char ignored[1];
        err_capture(ignored, sizeof ignored);
        raw_each(run->dir, 1u << RAW_CELL, take_group, &group);
        err_capture(NULL, 0);
        run->section = runs_section(run->key, group);
        run->rank = runs_rank(run_is_final(run->dir), runs_measured(run->dir), path_name(run->dir));
    }
    for (size_t i = c->runs.n; i-- > 0;) {
        const struct run_folder *one = &c->runs.v[i];
        for (size_t k = 0; k < c->runs.n; k++)
            if (!strcmp(c->runs.v[k].section, one->section) &&
                strcmp(c->runs.v[k].rank, one->rank) > 0)
                one = &c->runs.v[k];
        if (one == &c->runs.v[i])
            continue;
        const char *dir = c->runs.v[i].dir, *name = path_name(dir);
        bool newer = !run_is_final(dir) && strcmp(name, path_name(one->dir)) > 0;
        if (newer && (!c->unfinished || strcmp(name, path_name(c->unfinished)) > 0))
            xstrset(&c->unfinished, dir);
        c->older += !newer;
        drop(&c->runs, i);
    }
}

/* ---- the choice ---- */

int runs_choose(struct choice *c, const char *const *args, size_t n)
{
    static const char *const everything[] = {LOCATE_DATA};
    AUTO_FREE char *folder = n == 1 ? locate_platform(args[0]) : NULL;
    *c = (struct choice){.named = folder};
    int code = runs_below(&c->runs, n ? args : everything, n ? n : 1);
    if (!code && folder)
        c->platform = xstrdup(args[0]);
    if (!code && !n) {
        const struct run_folder *mine = latest_here(&c->runs);
        c->here = mine;
        const char *key = (mine ? mine : runs_choice_latest(c))->key;
        c->platform = xstrfmt("%.*s", (int)strcspn(key, "\n"), key);
        for (size_t i = c->runs.n; i-- > 0;)
            if (!is_platform(&c->runs.v[i], c->platform))
                drop(&c->runs, i);
    }
    if (!code && c->platform)
        keep_latest(c);
    return code;
}

void runs_choice_say(const struct choice *c)
{
    char older[96] = "";
    AUTO_FREE char *unfinished = NULL, *how = NULL;
    if (!c->platform)
        return;
    if (c->unfinished) {
        how = run_how_completed(c->unfinished);
        unfinished = xstrfmt(", without a newer run that is unfinished (%s)", how);
    }
    bool of_many = c->one && c->runs.n + c->older > 1;
    if (of_many && c->named)
        snprintf(older, sizeof older, ", latest of %zu runs", c->runs.n + c->older);
    else if (c->older && !c->one)
        snprintf(older, sizeof older, ", without %zu older run%s", c->older,
                 c->older == 1 ? "" : "s");
    say("platform %s%s%s%s%s", c->platform,
        c->named  ? ""
        : c->here ? ", the latest of this machine"
                  : ", the latest (this machine has no recording)",
        older, unfinished ? unfinished : "",
        of_many    ? "; others: gradsync help recordings"
        : c->named ? ""
                   : "; others: gradsync help measured");
}

void runs_choice_free(struct choice *c)
{
    runs_free(&c->runs);
    free(c->platform);
    free(c->unfinished);
    *c = (struct choice){0};
}
