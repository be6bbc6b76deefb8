/* SPDX-License-Identifier: Apache-2.0 */
#include "base/program_dir.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *program_dir(void)
{
    static char dir[4096];
    if (!dir[0]) {
        ssize_t n = readlink("/proc/self/exe", dir, sizeof dir - 1);
        dir[n > 0 ? n : 0] = '\0';
        char *slash = strrchr(dir, '/');
        if (slash)
            slash[slash == dir] = '\0';
    }
    return dir;
}

bool program_runs(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

char *program_find(const char *name)
{
    const char *path = getenv("PATH");
    AUTO_WORDS struct words dirs = {0};
    words_split(&dirs, path ? path : "/usr/local/bin:/usr/bin:/bin", ':');
    char *found = NULL;
    for (size_t i = 0; i < dirs.n && !found; i++) {
        found = xstrfmt("%s/%s", *dirs.v[i] ? dirs.v[i] : ".", name);
        if (!program_runs(found)) {
            free(found);
            found = NULL;
        }
    }
    return found;
}
