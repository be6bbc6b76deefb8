/* SPDX-License-Identifier: Apache-2.0
 *
 * Locks a run folder, so that only one gradsync writes to it.
 */
#pragma once

/* Locks the folder until lock_free(fd) or the end of the process. *fd is -1 after an error. GS_USAGE,
 * reported, if another process holds the lock; the message names a process of this machine. */
int lock_take(int *fd, const char *dir);
/* A shared lock: any number at a time, but none while lock_take is held. */
int lock_share(int *fd, const char *dir);
void lock_free(int fd);
