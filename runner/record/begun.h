/* SPDX-License-Identifier: Apache-2.0
 *
 * Which runs this user began. Their configs, job scripts and states hold commands, and a folder
 * may come from another person, so nothing in the folder itself can say this. The marks lie below
 * $XDG_STATE_HOME/gradsync/begun (default ~/.local/state). Each is named by a hash of the folder's real
 * path, and holds a hash of the files that its commands come from.
 */
#pragma once

#include <stdbool.h>

/* Call it after each change of these files. A mark that cannot be written is no error: `resume` then asks
 * for --commands. */
void begun_mark(const char *dir);
/* The only door to commands of a folder: every verb that continues something passes it before it runs
 * one. GS_OK: this user began the folder, or gave --commands, which marks it. Otherwise GS_USAGE,
 * reported: `what` ("its scripts are commands") is in `file`. */
int begun_may_command(const char *dir, const char *file, const char *what, bool commands);

/* Locks the folder of something that measures, as long as this process lives, and warns if another one
 * measures on this host. GS_OK, or reported: another process continues it. */
int begun_lock(const char *dir);
