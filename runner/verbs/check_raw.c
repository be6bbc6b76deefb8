/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/files.h"
#include "base/locate.h"
#include "base/text.h"
#include "record/check_recording.h"
#include "record/check_run.h"
#include "record/manifest.h"
#include "record/record.h"
#include "record/runs.h"
#include "verbs/check.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_run(const char *dir)
{
    int code = manifest_verify(dir), recordings = check_recordings(dir);
    return code ? code : recordings;
}

static int check_tree(const char *dir)
{
    AUTO(runs_free) struct runs runs = {.unsorted = true};
    int code = runs_find(&runs, dir);
    if (!code && !runs.n)
        code = fail_at(GS_USAGE, dir, 0, "holds no recording");
    for (size_t i = 0; i < runs.n; i++) {
        int one = check_run(runs.v[i].dir);
        code = code ? code : one;
    }
    return code;
}

/* Checks the file alone, and against the manifest and plan beside it. */
static int check_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = path_name(path);
    AUTO_FREE char *dir = slash ? xstrfmt("%.*s", (int)(slash - path), path) : xstrdup(".");
    AUTO_FREE char *manifest = xstrfmt("%s/%s", dir, RECORD_MANIFEST), *run_id = NULL;
    AUTO(check_plan_free) struct check_plan plan = {0};
    bool torn = false;
    int code = check_plan_read(&plan, dir);
    if (!access(manifest, F_OK)) {
        int listed = manifest_verify_file(dir, name);
        /* Without the plan, the recording is not checked against it. */
        int planned = plan.root ? GS_OK : manifest_verify_file(dir, "plan.json");
        code = code ? code : listed ? listed : planned;
    }
    if (plan.root)
        run_id = check_run_id(dir);
    int one = check_recording(path, &(struct check){.plan = &plan, .run_id = run_id}, &torn);
    if (torn)
        say("%s: ignoring the incomplete last line", path);
    return code ? code : one;
}

/* Files of other programs are not called damaged. */
static bool may_be_recording(const char *path)
{
    static const char begins[] = "{\"type\":";
    char start[sizeof begins - 1];
    AUTO_FCLOSE FILE *f = fopen(path, "re");
    size_t n = f ? fread(start, 1, sizeof start, f) : 0;
    return !memcmp(start, begins, n) || text_ends(path, ".jsonl");
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
