/* SPDX-License-Identifier: Apache-2.0
 *
 * The configs that a command line names: files, and folders of them.
 */
#ifndef GS_CAMPAIGN_CONFIGS_H
#define GS_CAMPAIGN_CONFIGS_H

#include "base/text.h"

#include <stdbool.h>

bool campaign_configs_is_folder(
    const char *path); /* a folder that is no run folder and no campaign */
/* Adds the file, or the *.ini of the folder in the order of their names. GS_OK or GS_USAGE,
 * reported: a folder without. words_free. */
int campaign_configs_add(struct words *list, const char *path);

#endif
