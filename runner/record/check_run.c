/* SPDX-License-Identifier: Apache-2.0 */
#include "record/check_run.h"

#include "base/err.h"
#include "base/json_names.h"
#include "base/sha256.h"
#include "base/text.h"
#include "record/check_recording.h"
#include "record/record.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *check_run_id(const char *dir)
{
    char *whole = realpath(dir, NULL), *slash = whole ? strrchr(whole, '/') : NULL;
    char *name = xstrdup(slash ? slash + 1 : dir);
    free(whole);
    return name;
}

int check_load_plan(const char *dir, json_t **plan)
{
    char *path = xstrfmt("%s/plan.json", dir), *config = xstrfmt("%s/config.ini", dir), hex[65];
    int code = json_names_load(plan, path);
    const char *sha256 = json_string_value(json_object_get(*plan, "config_sha256"));
    if (sha256 && (code = sha256_file(config, hex)) == GS_OK && strcmp(sha256, hex))
        code = fail_at(GS_FAILED, config, 0,
                       "edited: its SHA-256 differs from the one in plan.json; restore the file");
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
    char *run_id = check_run_id(dir);
    int code = check_load_plan(dir, &plan);
    int n = scandir(dir, &names, is_recording, alphasort);
    if (n < 0)
        code = fail_at(GS_FAILED, dir, 0, "cannot be read: %s", strerror(errno));
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

int check_before_final(const char *dir)
{
    if (!check_recordings(dir))
        return GS_OK;
    return fail_at(GS_FAILED, dir, 0,
                   "cannot be completed: a recording is damaged; restore it, or move it away and "
                   "'gradsync resume' measures its launch again");
}
