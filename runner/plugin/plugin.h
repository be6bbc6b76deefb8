/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds, loads and checks plugins.
 */
#pragma once

#include "base/text.h"
#include "config/config.h"
#include "workload.h"

#include <stdbool.h>

/* ---- loading ---- */

struct plugin {
    char *path;
    void *dl;
    struct wl_plugin wl; /* members that the plugin's `size` does not cover are zero */
};

/* `name`: "null", or a path with a slash or ending in .so. Searched: GRADSYNC_PLUGIN_PATH (by
 * colons), beside the program and in its plugins/, the install prefix; never the current folder.
 * dlopen(RTLD_NOW | RTLD_LOCAL). Returns GS_OK, GS_USAGE (no such plugin, nearest named; another
 * ABI; no symbol; tables that do not pass the lint) or GS_CANNOT (a library it needs is missing);
 * reported. */
int plugin_load(struct plugin **out, const char *name);
/* The same without the lint: tables may hold anything. */
int plugin_open(struct plugin **out, const char *name);
void plugin_unload(struct plugin *p);

/* GS_OK; or GS_USAGE, every fault of the tables reported. */
int plugin_lint(const struct plugin *p);

/* Is the parameter part of this cell? Not if it was added (wl_plugin.added) and has its default. */
bool plugin_has_param(const struct wl_plugin *wl, const struct wl_param *p, const void *cell);

/* Adds the names of all plugins in the search path, without loading them. A .so that does not mention
 * wl_plugin_v is none. */
void plugin_names(struct words *names);

#define PLUGIN_SILENCE_S 20 /* a call that takes longer hangs */

/* Calls run(name, ctx), which loads the plugin, in a child process: the plugin may crash it `when`. The
 * code of run, or GS_FAILED, reported. */
int plugin_apart(int (*run)(const char *name, void *ctx), const char *name, void *ctx,
                 const char *when);
/* Loads it so once. GS_OK: it can be loaded, or refused, here; GS_FAILED, reported: it would crash. */
int plugin_try(const char *name);
