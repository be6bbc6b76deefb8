/* SPDX-License-Identifier: Apache-2.0 */
#include "record/begun.h"

#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/shell.h"
#include "base/text.h"
#include "record/runs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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
static char *state_path(const char *folder, const char *name)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && *state == '/')
        return xstrfmt("%s/gradsync/%s/%s", state, folder, name);
    return home && *home == '/' ? xstrfmt("%s/.local/state/gradsync/%s/%s", home, folder, name)
                                : NULL;
}

void begun_mark(const char *dir)
{
    char of_path[65], of_files[65];
    AUTO_FREE char *mark =
        hash_folder(dir, of_path, of_files) ? state_path("begun", of_path) : NULL;
    AUTO_FREE char *failed = mark ? files_make_above(mark) : NULL;
    if (mark && !failed)
        files_replace(mark, of_files, 0600);
}

static bool is_marked(const char *dir)
{
    char of_path[65], of_files[65];
    AUTO_TEXT struct text held = {0};
    AUTO_FREE char *mark =
        hash_folder(dir, of_path, of_files) ? state_path("begun", of_path) : NULL;
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

int begun_lock(const char *dir)
{
    char host[256] = "host";
    if (scratch_lock(dir) < 0)
        return fail_at(
            GS_FAILED, dir, 0,
            "is measured by another gradsync, or belongs to another user: wait for its end");
    gethostname(host, sizeof host - 1);
    AUTO_FREE char *path = state_path("measuring", host);
    AUTO_FREE char *failed = path ? files_make_above(path) : NULL;
    int lock = path && !failed ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB))
        say("another tune measures on this host: the times of both are less exact");
    return GS_OK;
}
