/* SPDX-License-Identifier: Apache-2.0 */
#include "record/runs.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/locate.h"
#include "base/printable.h"
#include "base/shell_quote.h"
#include "record/raw.h"
#include "record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH 16 /* limit of nested folders: a link may point to a parent */

bool runs_is_run(const char *dir)
{
    AUTO_WORDS struct words paths = {0};
    record_list(dir, &paths);
    return paths.n > 0;
}

static bool has_block(const char *path)
{
    char ignored[1];
    struct raw *raw = NULL;
    struct raw_line l;
    err_capture(ignored, sizeof ignored);
    int got = raw_open(&raw, path) ? -1 : raw_next(raw, 1u << RAW_BLOCK, &l);
    if (raw)
        raw_close(raw);
    err_capture(NULL, 0);
    return got != 0;
}

bool runs_measured(const char *dir)
{
    AUTO_WORDS struct words paths = {0};
    bool measured = false;
    record_list(dir, &paths);
    for (size_t i = 0; i < paths.n && !measured; i++)
        measured = has_block(paths.v[i]);
    return measured;
}

/* ---- keys ---- */

/* The machine that rank 0 ran on. In a lab, each site has a host name of its own. */
static const char *host_of(const json_t *header)
{
    const char *lab = json_text_of(json_object_get(header, "lab"), "host");
    return *lab ? lab : json_text_of(json_array_get(json_object_get(header, "hosts"), 0), "host");
}

static int read_key(const char *path, struct run_folder *run)
{
    AUTO(raw_close_of) struct raw *raw = NULL;
    struct raw_line l;
    int code = raw_open(&raw, path);
    if (code)
        return code;
    int got = raw_next(raw, 1u << RAW_HEADER, &l);
    if (got == 1)
        *run = (struct run_folder){
            .key = xstrfmt("%s\n%s\n%s\n%s\n", json_text_of(l.json, "platform"),
                           json_text_of(l.json, "workload"), json_text_of(l.json, "label"),
                           json_text_of(l.json, "run_id")),
            .host = xstrdup(host_of(l.json))};
    return got < 0 ? GS_FAILED : GS_OK;
}

/* Key and host, from the first recording with a header; NULL if there is none. */
static int key_of(const char *dir, struct run_folder *run)
{
    AUTO_WORDS struct words paths = {0};
    int code = GS_OK;
    record_list(dir, &paths);
    for (size_t i = 0; i < paths.n && !run->key && !code; i++)
        code = read_key(paths.v[i], run);
    return code;
}

/* ---- folders ---- */

static void add(struct runs *r, const char *dir, struct run_folder run)
{
    ALLOC_MORE(r->v, r->n);
    run.dir = xstrdup(dir);
    r->v[r->n++] = run;
}

static int find(struct runs *r, const char *dir, int depth);

/* Keyed by its path, as it has no header yet. */
static void add_unstarted(struct runs *r, const char *dir)
{
    add(r, dir, (struct run_folder){.key = xstrdup(dir), .host = xstrdup("")});
}

static int find_run(struct runs *r, const char *dir, bool named)
{
    struct run_folder run = {0};
    if (r->unsorted) {
        add(r, dir, run);
        return GS_OK;
    }
    int code = key_of(dir, &run);
    if (run.key)
        add(r, dir, run);
    else if (!code && named)
        add_unstarted(r, dir);
    else if (!code)
        say("%s: ignored: nothing is recorded yet", dir);
    return code;
}

static int no_run(const char *name)
{
    return errno == ENOTDIR && !access(name, F_OK)
               ? fail_at(GS_USAGE, name, 0,
                         "is a file; give a run folder, a platform or the id of a run")
               : locate_failed(GS_USAGE, name, LOCATE_RUN);
}

static int add_folder(struct runs *r, const char *dir)
{
    if (access(dir, F_OK))
        return no_run(dir);
    if (!runs_is_run(dir))
        return fail_at(GS_USAGE, dir, 0, "is not a run folder: it has no launch-LL.AA.jsonl");
    return find_run(r, dir, true);
}

int runs_add(struct runs *r, const char *dir)
{
    AUTO_FREE char *path = locate_run(dir);
    return add_folder(r, path);
}

static int find_below(struct runs *r, const char *dir, int depth)
{
    AUTO_WORDS struct words names = {0};
    int code = GS_OK;
    if (!files_list(dir, "*", &names))
        return no_run(dir);
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
    AUTO_FREE char *dir = locate_run(root), *plan = xstrfmt("%s/plan.json", dir);
    if (access(plan, F_OK))
        return fail(GS_USAGE, "no recording below %s; make one with: gradsync run CONFIG", root);
    return fail(GS_USAGE, "nothing was measured in %s; to measure it: gradsync resume %s", dir,
                SHELL_WORD(dir));
}

int runs_below(struct runs *r, const char *const *roots, size_t n)
{
    int code = GS_OK;
    for (size_t i = 0; i < n && !code; i++)
        code = runs_find(r, roots[i]);
    if (!code)
        code = runs_sort(r);
    if (!code && !r->n)
        code = none_below(roots[0]);
    return code;
}

void run_folder_free(struct run_folder *run)
{
    free(run->dir);
    free(run->key);
    free(run->host);
}

/* Platform, workload and label are the first three lines of a key. */
bool runs_same_section(const struct run_folder *a, const struct run_folder *b)
{
    size_t n = 0;
    for (int lines = 0; lines < 3 && a->key[n]; n++)
        lines += a->key[n] == '\n';
    return !strncmp(a->key, b->key, n);
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
