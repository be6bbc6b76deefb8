/* SPDX-License-Identifier: Apache-2.0 */
#include "folder.h"

#include "base/err.h"
#include "base/text.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int folder_set_up(void **state)
{
    struct folder *f = xcalloc(1, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/gradsync test %d XXXXXX", (int)getpid());
    assert_non_null(mkdtemp(f->dir));
    err_capture(f->error, sizeof f->error);
    *state = f;
    return 0;
}

int folder_tear_down(void **state)
{
    struct folder *f = *state;
    char *command = xstrfmt("rm -rf '%s'", f->dir);
    assert_int_equal(system(command), 0);
    free(command);
    err_capture(NULL, 0);
    free(f);
    return 0;
}

const char *folder_path(const struct folder *f, const char *name)
{
    static char paths[4][128];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", f->dir, name);
    return path;
}

void folder_put(const struct folder *f, const char *name, const char *text)
{
    const char *path = folder_path(f, name);
    unlink(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}
