/* SPDX-License-Identifier: Apache-2.0
 *
 * Which run folders and campaigns this user began. Their configs and scripts hold commands, and a
 * folder may come from another person, so nothing in the folder itself can say this. The marks lie
 * below $XDG_STATE_HOME/gradsync/begun (default ~/.local/state): each is named by a hash of the
 * folder's real path and of the files that hold its commands.
 */
#pragma once

#include <stdbool.h>

/* A mark that cannot be written is no error: begun_here then is false. */
void begun_mark(const char *dir);
bool begun_here(const char *dir);
