/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_lines.h"

#include "base/err.h"
#include "base/locate.h"

#include <string.h>
#include <sys/stat.h>

int import_lines_open(struct import_lines *in, const char *path)
{
    struct stat st;
    *in = (struct import_lines){.path = path};
    if (stat(path, &st))
        return locate_failed(GS_USAGE, path, LOCATE_FILE);
    if (S_ISDIR(st.st_mode))
        return fail_at(GS_USAGE, path, 0, "is a folder; name the files in it");
    if (!S_ISREG(st.st_mode))
        return fail_at(GS_FAILED, path, 0, "refused: not a regular file; save the output first");
    if ((size_t)st.st_size > IMPORT_FILE_MAX)
        return fail_at(GS_FAILED, path, 0, "refused: larger than %zu MiB; split the file",
                       IMPORT_FILE_MAX >> 20);
    if (!text_read_file(path, &in->text))
        return locate_failed(GS_USAGE, path, LOCATE_FILE);
    if (!in->text.len)
        return fail_at(GS_FAILED, path, 0, "refused: the file is empty");
    if (memchr(in->text.s, '\0', in->text.len))
        return fail_at(GS_FAILED, path, 0, "refused: binary; text has no NUL byte");
    return GS_OK;
}

static void restore(struct import_lines *in)
{
    if (in->stop)
        *in->stop = in->stopped;
    in->stop = NULL;
}

bool import_lines_next(struct import_lines *in, char **line)
{
    restore(in);
    if (in->at >= in->text.len)
        return false;
    char *s = *line = in->text.s + in->at, *newline = memchr(s, '\n', in->text.len - in->at);
    size_t n = newline ? (size_t)(newline - s) : in->text.len - in->at;
    in->number++;
    in->torn = !newline;
    in->cut = n > IMPORT_LINE_MAX;
    in->at += n + !in->torn;
    n = in->cut ? IMPORT_LINE_MAX : n;
    while (n && s[n - 1] == '\r')
        n--;
    in->stop = s + n;
    in->stopped = s[n];
    s[n] = '\0';
    return true;
}

void import_lines_rewind(struct import_lines *in)
{
    restore(in);
    in->at = in->number = 0;
    in->torn = in->cut = false;
}

void import_lines_close(struct import_lines *in)
{
    text_free(&in->text);
}
