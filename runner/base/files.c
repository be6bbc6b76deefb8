/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int files_open(const char *path, enum files_place place)
{
    bool handed =
        place == FILES_GIVEN && (!strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6));
    int link = place == FILES_OWN ? O_NOFOLLOW : 0, wait = handed ? 0 : O_NONBLOCK;
    int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC | link | wait);
    struct stat st;
    if (fd < 0)
        return -1;
    int error = fstat(fd, &st)                  ? errno
                : S_ISDIR(st.st_mode)           ? EISDIR
                : S_ISREG(st.st_mode) || handed ? 0
                                                : EMEDIUMTYPE;
    if (!error)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

FILE *files_stream(const char *path, enum files_place place)
{
    int fd = files_open(path, place);
    return fd < 0 ? NULL : fdopen(fd, "rb");
}

bool files_read(const char *path, enum files_place place, size_t most, struct text *out)
{
    char piece[8192];
    ssize_t n;
    size_t before = out->len;
    int fd = files_open(path, place), error = 0;
    if (fd < 0)
        return false;
    text_addn(out, "", 0);
    while (!error && (n = read(fd, piece, sizeof piece)) != 0) {
        if (n > 0)
            text_addn(out, piece, (size_t)n);
        error = n < 0 && errno != EINTR ? errno : out->len - before > most ? EFBIG : 0;
    }
    close(fd);
    errno = error;
    return !error;
}

const char *files_why(int error)
{
    return error == ELOOP         ? "it is a link, which is not followed here"
           : error == EMEDIUMTYPE ? "it is not a regular file"
           : error == EFBIG       ? "it is too large"
                                  : strerror(error);
}

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

bool files_replace(const char *path, const char *text, mode_t mode)
{
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *dir = slash ? xstrfmt("%.*s", (int)(slash - path), path) : xstrdup(".");
    AUTO_FREE char *temp = xstrfmt("%s/.%s.%ld", dir, slash ? slash + 1 : path, (long)getpid());
    unlink(temp);
    bool good = files_write_new(temp, text, mode) && !rename(temp, path);
    int error = errno;
    if (good)
        files_sync_folder(dir);
    else
        unlink(temp);
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
