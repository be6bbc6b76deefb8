/* SPDX-License-Identifier: Apache-2.0
 *
 * Files and folders that are there wholly or not at all. What a failure means differs from caller
 * to caller, so nothing is reported here: false, or the path at fault, and errno.
 */
#ifndef GS_FILES_H
#define GS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

bool files_write_all(int fd, const void *bytes, size_t n);
/* A new file, on disk when this returns; never over one that is there, and never through a link. */
bool files_write_new(const char *path, const char *text, mode_t mode);
/* Makes every folder that a slash of `path` ends. NULL, or the one that cannot be made (the
 * caller's). */
char *files_make_above(const char *path);
/* A new name survives a power cut only once its folder is on disk too. */
void files_sync_folder(const char *dir);

#endif
