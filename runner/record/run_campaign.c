/* SPDX-License-Identifier: Apache-2.0 */
#include "record/run_campaign.h"

#include "base/err.h"
#include "base/files.h"
#include "base/shell_quote.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "collected"
#define MARK_MAX_B 8192

static bool is_campaign(const char *dir)
{
    AUTO_FREE char *path = xstrfmt("%s/" CAMPAIGN_FILE, dir);
    return access(path, F_OK) == 0;
}

char *run_campaign(const char *dir)
{
    char *path = realpath(dir, NULL), *last = path;
    for (int i = 0; last && i < 4; i++) /* "/runs/P/W/RUN" */
        if ((last = strrchr(path, '/')))
            *last = '\0';
    if (last && *path && !strcmp(last + 1, "runs") && is_campaign(path))
        return path;
    free(path);
    return NULL;
}

char *run_collected_from(const char *dir)
{
    AUTO_FREE char *path = xstrfmt("%s/" MARK, dir);
    AUTO_TEXT struct text t = {0};
    if (!files_read(path, FILES_OWN, MARK_MAX_B, &t) || !t.len)
        return NULL;
    t.s[strcspn(t.s, "\n")] = '\0';
    return is_campaign(t.s) ? xstrdup(t.s) : NULL;
}

int run_mark_collected(const char *dir, const char *campaign)
{
    AUTO_FREE char *path = xstrfmt("%s/" MARK, dir), *line = xstrfmt("%s\n", campaign);
    return files_write_new(path, line, 0666) ? GS_OK : fail_file(path, "written", errno);
}

char *run_completed_by(const char *dir)
{
    AUTO_FREE char *campaign = run_campaign(dir), *from = run_collected_from(dir);
    if (campaign)
        return xstrfmt("gradsync resume %s", SHELL_WORD(campaign));
    if (from)
        return xstrfmt("gradsync resume %s, then gradsync collect %s", SHELL_WORD(from),
                       SHELL_WORD(from));
    return xstrfmt("gradsync resume %s", SHELL_WORD(dir));
}
