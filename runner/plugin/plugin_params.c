/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/plugin_params.h"

#include "base/err.h"
#include "plugin/plugin.h"

void plugin_each_param(const struct words *names, void *arg,
                       void take(void *arg, const char *plugin, const struct wl_param *p))
{
    for (size_t i = 0; i < names->n; i++) {
        char ignored[1];
        struct plugin *p = NULL;
        err_capture(ignored, sizeof ignored);
        int code = plugin_load(&p, names->v[i]);
        err_capture(NULL, 0);
        if (code)
            continue;
        for (const struct wl_param *q = p->wl.params; q->name; q++)
            take(arg, p->wl.name, q);
        plugin_unload(p);
    }
}

static void add_name(void *params, const char *plugin, const struct wl_param *p)
{
    (void)plugin;
    words_add_once(params, p->name);
}

void plugin_param_names(struct words *params, const struct words *plugins)
{
    plugin_each_param(plugins, params, add_name);
}
