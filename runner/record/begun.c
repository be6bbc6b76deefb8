/* SPDX-License-Identifier: Apache-2.0 */
#include "record/begun.h"

#include "base/err.h"
#include "base/files.h"
#include "base/shell.h"
#include "base/text.h"
#include "record/runs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Hashes of the folder's real path, which names its mark, and of what its commands come from, which the
 * mark holds. False: no such folder. */
static bool hash_folder(const char *dir, char of_path[65], char of_files[65])
{
    static const char *const files[] = {"config.ini", "plan.json", "tune.json"};
    AUTO_FREE char *real = realpath(dir, NULL);
    AUTO_TEXT struct text all = {0};
    if (!real)
        return false;
    sha256_hex(real, strlen(real), of_path);
    for (size_t i = 0; i < COUNT(files); i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s", dir, files[i]);
        bool there = files_read(path, FILES_OWN, FILES_WHOLE_MAX, &all);
        text_addf(&all, "\n%d\n", there);
    }
    sha256_hex(all.s, all.len, of_files);
    return true;
}

/* The caller frees it; NULL: the user has no home. */
static char *mark_path(const char *of_path)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && *state == '/')
        return xstrfmt("%s/gradsync/begun/%s", state, of_path);
    return home && *home == '/' ? xstrfmt("%s/.local/state/gradsync/begun/%s", home, of_path)
                                : NULL;
}

void begun_mark(const char *dir)
{
    char of_path[65], of_files[65];
    AUTO_FREE char *mark = hash_folder(dir, of_path, of_files) ? mark_path(of_path) : NULL;
    AUTO_FREE char *failed = mark ? files_make_above(mark) : NULL;
    if (mark && !failed)
        files_replace(mark, of_files, 0600);
}

static bool is_marked(const char *dir)
{
    char of_path[65], of_files[65];
    AUTO_TEXT struct text held = {0};
    AUTO_FREE char *mark = hash_folder(dir, of_path, of_files) ? mark_path(of_path) : NULL;
    return mark && files_read(mark, FILES_OWN, FILES_WHOLE_MAX, &held) && held.s &&
           !strcmp(held.s, of_files);
}

int begun_may_command(const char *dir, const char *file, const char *what, bool commands)
{
    if (is_marked(dir))
        return GS_OK;
    if (commands) {
        begun_mark(dir);
        return GS_OK;
    }
    AUTO_FREE char *jobs = xstrfmt("%s/" RUNS_JOBS, dir);
    return fail_at(GS_USAGE, file, 0,
                   "you did not begin this in this folder, and %s: read it, then: gradsync %s "
                   "--commands %s",
                   what, access(jobs, F_OK) ? "resume" : "submit", SHELL_WORD(dir));
}
