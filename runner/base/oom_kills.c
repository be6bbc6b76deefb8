/* SPDX-License-Identifier: Apache-2.0 */
#include "base/oom_kills.h"

#include "base/files.h"

#include <stdio.h>

long long oom_kills(const char *path)
{
    char line[256];
    long long n = -1;
    AUTO_FCLOSE FILE *f = fopen(path, "re");
    while (f && n < 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "oom_kill %lld", &n) != 1)
            n = -1;
    return n;
}
