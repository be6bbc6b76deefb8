/* SPDX-License-Identifier: Apache-2.0
 *
 * Creates files and folders completely or not at all. Callers treat failures differently, so
 * these functions report nothing: they return false or the path that failed, and set errno.
 */
#ifndef GS_FILES_H
#define GS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

bool files_write_all(int fd, const void *bytes, size_t n);
/* Creates a file and syncs it to disk. Fails if the name exists, even as a link. */
bool files_write_new(const char *path, const char *text, mode_t mode);
/* Creates all folders above `path`. Returns NULL, or the folder that failed; the caller frees it. */
char *files_make_above(const char *path);
/* A new name survives a power failure only after its folder was synced. */
void files_sync_folder(const char *dir);

#endif
