/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scratch.h"

#include "base/files.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHARED_MEMORY "/dev/shm"

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
    AUTO_WORDS struct words names = {0};
    AUTO_FREE char *pattern = xstrfmt("%s*", prefix);
    files_list(SHARED_MEMORY, pattern, &names);
    for (size_t i = 0; i < names.n; i++) {
        AUTO_FREE char *path = xstrfmt(SHARED_MEMORY "/%s", names.v[i]);
        AUTO_CLOSE int lock = lock_of(path);
        if (lock >= 0)
            files_remove_tree(path);
    }
}

/* Between its making and its locking another gradsync may have swept it away. */
static bool is_there(const char *path, int fd)
{
    struct stat by_name, by_fd;
    return stat(path, &by_name) == 0 && fstat(fd, &by_fd) == 0 && by_name.st_ino == by_fd.st_ino;
}

/* Waits for the end of the process that holds the other end of the pipe; then removes the folder until
 * the ranks, which are dying too, make no more files in it. In a session of its own, because the
 * signals of a terminal would end it first. */
static void keep(const char *path, int alive)
{
    char byte;
    const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
    setsid();
    for (int s = SIGHUP; s <= SIGTERM; s++)
        signal(s, SIG_IGN);
    dup2(alive, 0);
    close_range(1, ~0u, 0);
    while (read(0, &byte, 1) < 0 && errno == EINTR)
        ;
    for (int tries = 0; tries < 100 && !access(path, F_OK); tries++) {
        files_remove_tree(path);
        nanosleep(&pause, NULL);
    }
    _exit(0);
}

/* Without a keeper the next gradsync on this host removes what a killed one left. */
static void start_keeper(struct scratch *s)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return;
    s->keeper = fork();
    if (s->keeper == 0)
        keep(s->dir, ends[0]);
    close(ends[0]);
    s->alive = ends[1];
}

void scratch_make(struct scratch *s)
{
    *s = (struct scratch){.lock = -1, .alive = -1, .keeper = -1};
    AUTO_FREE char *prefix = xstrfmt("gradsync-%ld-", (long)geteuid());
    sweep(prefix);
    for (int attempt = 0; attempt < 3 && !s->dir; attempt++) {
        char *path = xstrfmt(SHARED_MEMORY "/%sXXXXXX", prefix);
        s->lock = mkdtemp(path) ? lock_of(path) : -1;
        if (s->lock >= 0 && is_there(path, s->lock)) {
            s->dir = path;
            start_keeper(s);
            break;
        }
        if (s->lock >= 0)
            close(s->lock);
        s->lock = -1;
        free(path);
    }
}

void scratch_remove(struct scratch *s)
{
    if (!s->dir)
        return;
    files_remove_tree(s->dir);
    close(s->lock);
    if (s->alive >= 0)
        close(s->alive);
    if (s->keeper > 0)
        waitpid(s->keeper, NULL, 0);
    free(s->dir);
    *s = (struct scratch){.lock = -1, .alive = -1, .keeper = -1};
}
