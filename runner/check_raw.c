/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "check_recording.h"
#include "err.h"
#include "locate.h"
#include "manifest.h"
#include "record.h"
#include "runs.h"
#include "text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "run", the folder's own name; for "." and the like what it resolves to. The caller's. */
static char *folder_name(const char *dir)
{
    char *whole = realpath(dir, NULL), *slash = whole ? strrchr(whole, '/') : NULL;
    char *name = xstrdup(slash ? slash + 1 : dir);
    free(whole);
    return name;
}

/* plan.json, NULL when there is none, as of an imported run. */
static int load_plan(const char *dir, json_t **plan)
{
    char *path = xstrfmt("%s/plan.json", dir), *config = xstrfmt("%s/config.ini", dir), hex[65];
    json_error_t why;
    int code = GS_OK;
    *plan = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    if (!*plan && !access(path, F_OK))
        code = fail_at(GS_FAILED, path, why.line, "damaged: %s", why.text);
    const char *sha256 = json_string_value(json_object_get(*plan, "config_sha256"));
    if (sha256 && (code = sha256_file(config, hex)) == GS_OK && strcmp(sha256, hex))
        code = fail_at(GS_FAILED, config, 0,
                       "edited: its SHA-256 is not the one that plan.json was made from");
    free(path);
    free(config);
    return code;
}

static int is_recording(const struct dirent *e)
{
    int launch, attempt;
    return record_parse_name(e->d_name, &launch, &attempt);
}

int check_recordings(const char *dir)
{
    json_t *plan;
    struct dirent **names;
    char *run_id = folder_name(dir);
    int code = load_plan(dir, &plan);
    int n = scandir(dir, &names, is_recording, alphasort);
    for (int i = 0; i < n; i++) {
        char *path = xstrfmt("%s/%s", dir, names[i]->d_name);
        int one = check_recording(path, run_id, plan);
        code = code ? code : one;
        free(path);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    json_decref(plan);
    free(run_id);
    return code;
}

static int check_run(const char *dir)
{
    int code = manifest_verify(dir), recordings = check_recordings(dir);
    return code ? code : recordings;
}

static int check_tree(const char *dir)
{
    struct runs runs = {.unsorted = true};
    int code = runs_find(&runs, dir);
    if (!code && !runs.n)
        code = fail_at(GS_USAGE, dir, 0, "no recording in or below it");
    for (size_t i = 0; i < runs.n; i++) {
        int one = check_run(runs.v[i].dir);
        code = code ? code : one;
    }
    runs_free(&runs);
    return code;
}

/* By itself, and against what lies beside it. */
static int check_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *dir = slash ? xstrfmt("%.*s", (int)(slash - path), path) : xstrdup(".");
    char *manifest = xstrfmt("%s/%s", dir, RECORD_MANIFEST), *run_id = NULL;
    json_t *plan;
    int code = load_plan(dir, &plan);
    if (!access(manifest, F_OK)) {
        int listed = manifest_verify_file(dir, name);
        code = code ? code : listed;
    }
    if (plan)
        run_id = folder_name(dir);
    int one = check_recording(path, run_id, plan);
    json_decref(plan);
    free(manifest);
    free(run_id);
    free(dir);
    return code ? code : one;
}

/* Of any other file "damaged" would be the wrong word. */
static bool may_be_recording(const char *path)
{
    size_t n = strlen(path), s = strlen(".jsonl");
    FILE *f = fopen(path, "re");
    int first = f ? fgetc(f) : EOF;
    if (f)
        fclose(f);
    return first == EOF || first == '{' || (n > s && !strcmp(path + n - s, ".jsonl"));
}

int check_raw(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return locate_failed(GS_USAGE, path, LOCATE_CONFIG | LOCATE_RUN);
    if (S_ISREG(st.st_mode) && !may_be_recording(path))
        return fail_at(GS_USAGE, path, 0,
                       "nothing to check: not a config (.ini), a plugin (.so) or a recording "
                       "(.jsonl)");
    return S_ISDIR(st.st_mode) ? check_tree(path) : check_file(path);
}
