/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/campaign_configs.h"

#include "base/err.h"
#include "cluster/campaign.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

bool campaign_configs_is_folder(const char *path)
{
    AUTO_FREE char *plan = xstrfmt("%s/plan.json", path);
    bool run = access(plan, F_OK) == 0;
    return !run && is_folder(path) && !campaign_is(path);
}

static int is_config(const struct dirent *e)
{
    return *e->d_name != '.' && text_ends(e->d_name, ".ini");
}

static void add(struct words *list, char *path)
{
    list->v = xrealloc(list->v, (list->n + 1) * sizeof *list->v);
    list->v[list->n++] = path;
}

int campaign_configs_add(struct words *list, const char *path)
{
    struct dirent **names;
    if (!is_folder(path)) {
        add(list, xstrdup(path));
        return GS_OK;
    }
    int n = scandir(path, &names, is_config, alphasort);
    if (n < 0)
        return fail_at(GS_USAGE, path, 0, "cannot be read: %s", strerror(errno));
    for (int i = 0; i < n; i++) {
        add(list, xstrfmt("%s/%s", path, names[i]->d_name));
        free(names[i]);
    }
    free(names);
    return n ? GS_OK
             : fail_at(GS_USAGE, path, 0,
                       "is no run folder and no campaign, and holds no "
                       "config (NAME.ini)");
}
