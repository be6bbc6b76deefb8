/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan_build.h"
#include "verbs/check.h"

#include "base/err.h"
#include "launch/launcher.h"
#include "plan/plan.h"
#include "plan/sweep.h"
#include "wan/wan_audit.h"

#include <stddef.h>

/* With faulty settings there are no cells, but keys and values can still be checked. */
static int check_values(const struct config *c, const char *section, struct plugin *plugin)
{
    struct sweep sweep;
    int code = sweep_read(&sweep, c, section, &plugin->wl);
    sweep_free(&sweep);
    plugin_unload(plugin);
    return code;
}

static int check_workload(struct config *c, const char *section, const struct settings *set)
{
    struct plugin *plugin;
    struct plan *plan;
    int code = plan_plugin(&plugin, c, section);
    if (code)
        return code;
    if (!set)
        return check_values(c, section, plugin);
    code = plan_build_from(&plan, config_share(c), section, plugin, set);
    plan_free(plan);
    return code;
}

int check_config(const char *path, const char *const *overrides)
{
    struct config *c;
    struct settings set;
    int code = config_load_all(&c, path, overrides);
    if (!c)
        return code;
    if (config_check_commands(c)) { /* a command that is cut has further faults that are none */
        config_free(c);
        return GS_USAGE;
    }
    int read = settings_read(c, &set);
    code = err_worse(code, read);
    for (size_t i = 0; config_workload(c, i); i++)
        code = err_worse(code, check_workload(c, config_workload(c, i), read ? NULL : &set));
    if (!read)
        code = err_worse(code, launcher_check_binding(c, &set.launch));
    code = err_worse(code, wan_config_check(c));
    if (!config_workload(c, 0) && !config_section(c, "model"))
        code =
            err_worse(code, fail_at(GS_USAGE, path, 0,
                                    "no workload section; add one, e.g. [mpi_allreduce]; 'gradsync "
                                    "list' shows the plugins"));
    config_free(c);
    return code;
}
