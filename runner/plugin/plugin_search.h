/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the files of plugins by name, without loading them.
 */
#pragma once

#include <stddef.h>

#define PLUGIN_ABI_STEM                                                                            \
    "wl_plugin_v" /* how the exported symbol begins in every version of the ABI */

struct plugin_file {
    char *name, *path;
};

struct plugin_files {
    struct plugin_file *v;
    size_t n;
};

/* The path for a name (plugin_load); NULL: there is none. The caller frees it. */
char *plugin_file(const char *name);
/* Every file in the search path that mentions the ABI's symbol; of equal names the first. */
struct plugin_files plugin_files(void);
void plugin_files_free(struct plugin_files *f);
