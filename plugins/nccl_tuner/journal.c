/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_tuner/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define TRIES 1000 /* ranks in containers may share a host's name and their process id */

void journal_host(char name[JOURNAL_HOST])
{
    if (gethostname(name, JOURNAL_HOST) || !*name)
        snprintf(name, JOURNAL_HOST, "host");
    name[JOURNAL_HOST - 1] = '\0';
    for (char *c = name; *c; c++) /* it becomes part of a file's name and of a JSON text */
        if (*c == '/' || *c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = '_';
}

bool journal_open(struct journal *j, const char *out, const char *comm)
{
    char path[4096], host[JOURNAL_HOST];
    journal_host(host);
    j->fd = -1;
    for (int i = 0; i < TRIES && j->fd < 0; i++) {
        snprintf(j->name, sizeof j->name, "%s.%s.%ld.%d.jsonl", comm, host, (long)getpid(), i);
        int length = snprintf(path, sizeof path, "%s/%s", out, j->name);
        if (length < 0 || (size_t)length >= sizeof path)
            return false;
        j->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
        if (j->fd < 0 && errno != EEXIST)
            return false;
    }
    return j->fd >= 0;
}

void journal_line(struct journal *j, struct line *l)
{
    if (j->fd < 0)
        return;
    l->s[l->n < sizeof l->s ? l->n : sizeof l->s - 1] = '\n';
    ssize_t got = write(j->fd, l->s, l->n + 1);
    (void)got;
}

void journal_close(struct journal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    j->fd = -1;
}

void line_add(struct line *l, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(l->s + l->n, sizeof l->s - l->n, fmt, args);
    va_end(args);
    if (n > 0)
        l->n = l->n + (size_t)n < sizeof l->s ? l->n + (size_t)n : sizeof l->s - 1;
}
