/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/jobs.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "record/provenance.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- writing ---- */

static int append(const struct campaign *c, json_t *line)
{
    AUTO_FREE char *path = campaign_path(c, CAMPAIGN_LEDGER),
                   *text = json_dumps(line, JSON_COMPACT);
    /* The leading line break separates this line from one that a crash cut short. */
    AUTO_FREE char *whole = xstrfmt("\n%s\n", text);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    size_t n = strlen(whole);
    ssize_t wrote = fd < 0 ? -1 : write(fd, whole, n);
    bool torn = wrote >= 0 && wrote != (ssize_t)n; /* a short write: the disk is full */
    bool bad = wrote < 0 || torn || fsync(fd);
    int code = bad ? fail_file(path, "written", torn ? ENOSPC : errno) : GS_OK;
    if (fd >= 0)
        close(fd);
    json_decref(line);
    return code;
}

int jobs_add(const struct campaign *c, long job, size_t array, const char *indices)
{
    char at[32];
    return append(c,
                  json_pack("{ss ss sI sI ss}", "type", "job", "at", provenance_time(at, sizeof at),
                            "job", (json_int_t)job, "array", (json_int_t)array, "tasks", indices));
}

int jobs_cancelled(const struct campaign *c)
{
    char at[32];
    return append(c, json_pack("{ss ss}", "type", "cancel", "at", provenance_time(at, sizeof at)));
}

/* ---- reading ---- */

static void take(struct jobs *j, const struct campaign *c, json_t *o)
{
    const char *type, *indices;
    json_int_t job, array;
    if (json_unpack(o, "{ss}", "type", &type))
        return;
    if (!strcmp(type, "cancel"))
        j->cancelled = true;
    if (strcmp(type, "job") ||
        json_unpack(o, "{sI sI ss}", "job", &job, "array", &array, "tasks", &indices) ||
        array < 0 || (size_t)array >= c->n_arrays)
        return;
    j->cancelled = false;
    APPEND(j->v, j->n) = (struct submission){(long)job, (size_t)array, xstrdup(indices)};
}

int jobs_read(struct jobs *j, const struct campaign *c)
{
    AUTO_TEXT struct text t = {0};
    *j = (struct jobs){0};
    AUTO_FREE char *path = campaign_path(c, CAMPAIGN_LEDGER);
    int code = GS_OK;
    if (!files_read(path, FILES_OWN, FILES_WHOLE_MAX, &t) && errno != ENOENT)
        code = fail_at(GS_FAILED, path, 0, "cannot be read: %s", files_why(errno));
    /* A crash of the machine may leave NULs in place of a line. */
    for (size_t at = 0, n; at < t.len; at += n + 1) {
        const char *line = t.s + at, *end = memchr(line, '\n', t.len - at);
        n = end ? (size_t)(end - line) : t.len - at;
        AUTO_JSON json_t *o = json_loadb(line, n, 0, NULL);
        if (o)
            take(j, c, o);
    }
    return code;
}

void jobs_free(struct jobs *j)
{
    for (size_t i = 0; i < j->n; i++)
        free(j->v[i].indices);
    free(j->v);
    *j = (struct jobs){0};
}

/* ---- queries ---- */

bool jobs_knows(const struct jobs *j, long job)
{
    for (size_t i = 0; i < j->n; i++)
        if (j->v[i].job == job)
            return true;
    return false;
}

/* "1-3,7%2" */
static bool lists(const char *indices, long index)
{
    for (const char *s = indices; *s && *s != '%';) {
        char *end;
        long first = strtol(s, &end, 10), last = first;
        if (end == s)
            return false;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (index >= first && index <= last)
            return true;
        s = *end == ',' ? end + 1 : end;
        if (*end && *end != ',' && *end != '%')
            return false;
    }
    return false;
}

long jobs_last(const struct jobs *j, const struct campaign *c, size_t task)
{
    size_t array = c->tasks[task].array;
    long index = (long)(task - c->arrays[array].first) + 1;
    for (size_t i = j->n; i-- > 0;)
        if (j->v[i].array == array && lists(j->v[i].indices, index))
            return j->v[i].job;
    return 0;
}
