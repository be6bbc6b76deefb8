/* SPDX-License-Identifier: Apache-2.0 */
#include "base/program_dir.h"

#include <string.h>
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
