/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/campaign_configs.h"

#include "base/err.h"
#include "base/files.h"
#include "cluster/campaign.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool campaign_configs_is_folder(const char *path)
{
    AUTO_FREE char *plan = xstrfmt("%s/plan.json", path);
    bool run = access(plan, F_OK) == 0;
    return !run && files_is_folder(path) && !campaign_is(path);
}

int campaign_configs_add(struct words *list, const char *path)
{
    AUTO_WORDS struct words names = {0};
    if (!files_is_folder(path)) {
        words_add(list, path);
        return GS_OK;
    }
    if (!files_list(path, "*.ini", &names))
        return fail_at(GS_USAGE, path, 0, "cannot be read: %s", strerror(errno));
    for (size_t i = 0; i < names.n; i++)
        words_addf(list, "%s/%s", path, names.v[i]);
    return names.n
               ? GS_OK
               : fail_at(GS_USAGE, path, 0,
                         "is neither a run folder nor a campaign, and holds no config (NAME.ini)");
}
