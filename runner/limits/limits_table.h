/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints limits.csv in the terminal.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>

/* Prints DIR/limits.csv, worst first. Shows every check of a published claim. For measurements it
 * shows the largest fraction of each platform, quantity and verdict, and their number. Other
 * platforms are left out. `kept`: the table stays, its path is printed. GS_OK or reported. */
int limits_print(const char *dir, const struct words *platforms, bool kept);
