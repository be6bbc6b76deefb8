/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scratch.h"

#include "base/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_MEMORY "/dev/shm"
#define OPEN_AT_ONCE 8

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s;
    (void)type;
    (void)at;
    remove(path);
    return 0;
}

static void remove_tree(const char *path)
{
    nftw(path, remove_one, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* The lock of a folder, or -1: another process has it, another user owns the folder (root may open
 * it all the same), or it is gone. */
static int lock_of(const char *path)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &s) || s.st_uid != geteuid() || flock(fd, LOCK_EX | LOCK_NB))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void sweep(const char *prefix)
{
    DIR *d = opendir(SHARED_MEMORY);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));) {
        if (strncmp(e->d_name, prefix, strlen(prefix)))
            continue;
        char *path = xstrfmt(SHARED_MEMORY "/%s", e->d_name);
        int lock = lock_of(path);
        if (lock >= 0) {
            remove_tree(path);
            close(lock);
        }
        free(path);
    }
    closedir(d);
}

/* Between its making and its locking another gradsync may have swept it away. */
static bool is_there(const char *path, int fd)
{
    struct stat by_name, by_fd;
    return stat(path, &by_name) == 0 && fstat(fd, &by_fd) == 0 && by_name.st_ino == by_fd.st_ino;
}

void scratch_make(struct scratch *s)
{
    *s = (struct scratch){.lock = -1};
    char *prefix = xstrfmt("gradsync-%ld-", (long)geteuid());
    sweep(prefix);
    for (int attempt = 0; attempt < 3 && !s->dir; attempt++) {
        char *path = xstrfmt(SHARED_MEMORY "/%sXXXXXX", prefix);
        s->lock = mkdtemp(path) ? lock_of(path) : -1;
        if (s->lock >= 0 && is_there(path, s->lock)) {
            s->dir = path;
            break;
        }
        if (s->lock >= 0)
            close(s->lock);
        s->lock = -1;
        free(path);
    }
    free(prefix);
}

void scratch_remove(struct scratch *s)
{
    if (!s->dir)
        return;
    remove_tree(s->dir);
    close(s->lock);
    free(s->dir);
    *s = (struct scratch){.lock = -1};
}
