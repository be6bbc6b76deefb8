/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints transitions.csv in the terminal.
 */
#pragma once

#include <stdbool.h>

/* Prints a line for each transition in DIR/transitions.csv, of this platform if it is not NULL: those
 * that are recorded or confirmed first, then by the change. Leaves out fits and refused curves. At
 * most a screen, unless `all` is set. `kept`: the file stays, so its path is printed. GS_OK or
 * reported. */
int transitions_print(const char *dir, const char *platform, bool all, bool kept);
