/* SPDX-License-Identifier: Apache-2.0 */
#include "record/begun.h"

#include "base/files.h"
#include "base/sha256.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The caller frees it; NULL: no folder, or the user has no home. */
static char *mark_of(const char *dir)
{
    static const char *const files[] = {"config.ini", "plan.json", "campaign.json"};
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    AUTO_FREE char *real = realpath(dir, NULL);
    AUTO_TEXT struct text all = {0};
    char hex[65];
    bool in_state = state && *state == '/';
    if (!real || (!in_state && (!home || *home != '/')))
        return NULL;
    text_addf(&all, "%s\n", real);
    for (size_t i = 0; i < COUNT(files); i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s", dir, files[i]);
        bool there = files_read(path, FILES_OWN, FILES_WHOLE_MAX, &all);
        text_addf(&all, "\n%d\n", there);
    }
    sha256_hex(all.s, all.len, hex);
    return in_state ? xstrfmt("%s/gradsync/begun/%s", state, hex)
                    : xstrfmt("%s/.local/state/gradsync/begun/%s", home, hex);
}

void begun_mark(const char *dir)
{
    AUTO_FREE char *mark = mark_of(dir), *failed = mark ? files_make_above(mark) : NULL;
    if (mark && !failed && access(mark, F_OK))
        files_write_new(mark, "", 0600);
    free(failed);
}

bool begun_here(const char *dir)
{
    AUTO_FREE char *mark = mark_of(dir);
    return mark && !access(mark, F_OK);
}
