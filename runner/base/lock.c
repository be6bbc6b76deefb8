/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lock.h"

#include "base/err.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The holder from /proc/locks: "1: FLOCK  ADVISORY  WRITE PID MAJOR:MINOR:INODE 0 EOF"; 0 when it
 * is not there (it runs on another machine, or in another container). */
static long holder(int fd)
{
    struct stat s;
    AUTO_TEXT struct text t = {0};
    long found = 0;
    if (fstat(fd, &s) || !text_read_file("/proc/locks", &t))
        return 0;
    AUTO_WORDS struct words lines = {0};
    words_split(&lines, t.s, '\n');
    for (size_t i = 0; i < lines.n && !found; i++) {
        long pid;
        unsigned long inode;
        if (sscanf(lines.v[i], "%*d: FLOCK ADVISORY WRITE %ld %*x:%*x:%lu", &pid, &inode) == 2 &&
            inode == s.st_ino)
            found = pid;
    }
    return found;
}

static int lock(int *fd, const char *dir, int how)
{
    /* The one file that every run folder has. Some network file systems lock only what can be
     * written; a finished run's cannot. */
    AUTO_FREE char *path = xstrfmt("%s/plan.json", dir);
    int code = GS_OK;
    *fd = open(path, O_RDWR | O_CLOEXEC);
    if (*fd < 0)
        *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0) {
        code = fail_at(GS_USAGE, dir, 0, "no run folder: plan.json: %s", strerror(errno));
    } else if (flock(*fd, how | LOCK_NB) && errno == EWOULDBLOCK) {
        long pid = holder(*fd);
        char who[64] = "another gradsync";
        if (pid)
            snprintf(who, sizeof who, "process %ld", pid);
        code =
            fail_at(GS_USAGE, dir, 0, "%s is measuring into it; wait for it, or end it first", who);
        lock_free(*fd);
        *fd = -1;
    }
    return code;
}

int lock_take(int *fd, const char *dir)
{
    return lock(fd, dir, LOCK_EX);
}

int lock_share(int *fd, const char *dir)
{
    return lock(fd, dir, LOCK_SH);
}

void lock_free(int fd)
{
    if (fd >= 0)
        close(fd);
}
