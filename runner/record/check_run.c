/* SPDX-License-Identifier: Apache-2.0 */
#include "record/check_run.h"

#include "base/err.h"
#include "base/text.h"
#include "record/ledger.h"

#include <stdlib.h>

char *check_run_id(const char *dir)
{
    AUTO_FREE char *whole = realpath(dir, NULL);
    return xstrdup(whole ? path_name(whole) : dir);
}

int check_recordings(const char *dir)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    AUTO_FREE char *run_id = check_run_id(dir);
    int code = ledger_read_of(&l, dir, run_id);
    for (size_t i = 0; !code && i < l->n_files; i++)
        if (l->files[i].torn)
            say("%s: ignoring the incomplete last line", l->files[i].path);
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
