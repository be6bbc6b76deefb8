/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool files_write_all(int fd, const void *bytes, size_t n)
{
    const char *s = bytes;
    while (n) {
        ssize_t wrote = write(fd, s, n);
        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0) {
            s += wrote;
            n -= (size_t)wrote;
        }
    }
    return true;
}

bool files_write_new(const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0)
        return false;
    bool good = files_write_all(fd, text, strlen(text)) && !fsync(fd);
    int error = errno;
    if (close(fd))
        return false;
    errno = error;
    return good;
}

char *files_make_above(const char *path)
{
    char *p = xstrdup(path);
    for (char *slash = p + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        if (mkdir(p, 0777) && errno != EEXIST)
            return p;
    }
    free(p);
    return NULL;
}

void files_sync_folder(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}
