/* SPDX-License-Identifier: Apache-2.0 */
#include "folder.h"

#include "base/err.h"
#include "base/text.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct folder folder;

int folder_set_up(void **state)
{
    (void)state;
    snprintf(folder.dir, sizeof folder.dir, "/tmp/gradsync test %d XXXXXX", (int)getpid());
    assert_non_null(mkdtemp(folder.dir));
    *folder.error = '\0';
    err_capture(folder.error, sizeof folder.error);
    return 0;
}

int folder_tear_down(void **state)
{
    (void)state;
    AUTO_FREE char *command = xstrfmt("rm -rf '%s'", folder.dir);
    assert_int_equal(system(command), 0);
    err_capture(NULL, 0);
    return 0;
}

const char *folder_path(const char *name)
{
    static char paths[4][128];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder.dir, name);
    return path;
}

void folder_put(const char *name, const char *text)
{
    const char *path = folder_path(name);
    unlink(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

void folder_says(const char *text)
{
    if (!strstr(folder.error, text))
        fail_msg("said '%s', not '%s'", folder.error, text);
}
