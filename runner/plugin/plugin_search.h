/* SPDX-License-Identifier: Apache-2.0
 *
 * Where plugins lie: files by name, none of them opened as what it is.
 */
#pragma once

#include <stddef.h>

#define PLUGIN_ABI_STEM "wl_plugin_v" /* what the symbol of every ABI begins with */

struct plugin_file {
    char *name, *path;
};

struct plugin_files {
    struct plugin_file *v;
    size_t n;
};

char *plugin_file(const char *name); /* that a name (plugin.h) stands for, the caller's; or NULL */
/* All in the search path that mention the ABI's symbol, the first of each name. */
struct plugin_files plugin_files(void);
void plugin_files_free(struct plugin_files *f);
