/* SPDX-License-Identifier: Apache-2.0 */
#include "train/train_file.h"

#include "base/files.h"
#include "base/text.h"

#include <string.h>
#include <sys/stat.h>

#define LOG_MAX ((size_t)1 << 30)

void train_file_note(struct train_file *f, const char *path)
{
    struct stat s;
    *f = (struct train_file){.path = path};
    if (!stat(path, &s)) {
        f->inode = s.st_ino;
        f->size = s.st_size;
    }
}

bool train_file_read(const struct train_file *f, struct train_times *times)
{
    AUTO_TEXT struct text t = {0};
    struct stat s;
    if (stat(f->path, &s) || !files_read(f->path, FILES_ANY, LOG_MAX, &t))
        return false;
    bool same = s.st_ino == f->inode && s.st_size >= f->size && (size_t)f->size <= t.len;
    double at = (double)s.st_mtim.tv_sec + (double)s.st_mtim.tv_nsec * 1e-9;
    /* A crash or a log that was cut may leave NULs, which end a line as well. */
    for (size_t from = same ? (size_t)f->size : 0, n; from < t.len; from += n + 1) {
        char *line = t.s + from;
        for (n = 0; from + n < t.len && !strchr("\r\n", line[n]);)
            n++;
        line[n] = '\0';
        train_times_line(times, line, at);
    }
    return true;
}
