/* SPDX-License-Identifier: Apache-2.0
 *
 * One gradsync at a time on one run folder.
 */
#ifndef GS_LOCK_H
#define GS_LOCK_H

/* Locks the folder until lock_free(fd) or this process's death. *fd is -1 after an error: GS_USAGE,
 * reported, when another process holds it (which one is said when it runs on this machine). */
int lock_take(int *fd, const char *dir);
/* As many at a time as like to, but none beside one who holds lock_take. */
int lock_share(int *fd, const char *dir);
void lock_free(int fd);

#endif
