/* SPDX-License-Identifier: Apache-2.0
 *
 * Config arguments of a command line: files, or folders of *.ini files.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>

bool campaign_configs_is_folder(const char *path); /* a folder, but no run folder or campaign */
/* Adds the file, or the *.ini files of the folder, sorted by name. GS_OK, or GS_USAGE (reported)
 * for a folder without configs. The caller frees the list with words_free. */
int campaign_configs_add(struct words *list, const char *path);
