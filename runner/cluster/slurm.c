/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits of a cluster, parsed from the output of scontrol.
 */
#include "cluster/slurm.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "cluster/client.h"
#include "config/settings.h"
#include "record/provenance.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the queue ---- */

/* The fields of a job in the reply of squeue; the folder comes last, because it may hold any mark. */
#define JOB_FIELDS "%A|%F|%K|%T|%r|%U|%k|%Z"
enum { JOB_FIELDS_N = 8 };

/* Reads K from the comment "gradsync:ID:K" that slurm_submit_command sets. False: a foreign job of
 * the same name. */
static bool ours(const struct campaign *c, const char *text, size_t *k)
{
    size_t n = strlen(c->id);
    char *end;
    if (strncmp(text, "gradsync:", 9) || strncmp(text + 9, c->id, n) || text[9 + n] != ':')
        return false;
    *k = (size_t)strtoul(text + 10 + n, &end, 10);
    return end != text + 10 + n && *k < c->n_arrays;
}

static bool parse_job(const struct campaign *c, char *line, struct job *j)
{
    AUTO_WORDS struct words w = {0};
    const char *folder = line;
    words_split(&w, line, '|');
    for (int i = 1; folder && i < JOB_FIELDS_N; i++)
        folder = (folder = strchr(folder, '|')) ? folder + 1 : NULL;
    bool good = folder && ours(c, w.v[6], &j->array);
    if (good) {
        j->id = strtol(w.v[0], NULL, 10);
        j->array_job = strtol(w.v[1], NULL, 10);
        j->index = strtol(w.v[2], NULL, 10);
        snprintf(j->state, sizeof j->state, "%s", w.v[3]);
        snprintf(j->reason, sizeof j->reason, "%s", w.v[4]);
        j->mine = strtoul(w.v[5], NULL, 10) == geteuid() && !strcmp(folder, c->dir);
        good = j->index >= 1 && (size_t)j->index <= c->arrays[j->array].n;
    }
    return good;
}

static int by_task(const void *a, const void *b)
{
    const struct job *x = a, *y = b;
    if (x->array != y->array)
        return x->array < y->array ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->array_job < y->array_job ? -1 : x->array_job > y->array_job;
}

int slurm_queue(struct queue *q, const struct campaign *c)
{
    AUTO(reply_free) struct reply r = {0};
    *q = (struct queue){0};
    int code = client_run(&r,
                          (const char *const[]){"squeue", "-h", "-r", "-t", "all", "-n", c->id,
                                                "-o", JOB_FIELDS, NULL},
                          "cannot list the jobs");
    for (char *line = code ? NULL : r.out.s, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        struct job j = {0};
        if (!parse_job(c, line, &j))
            continue;
        ALLOC_MORE(q->v, q->n);
        q->v[q->n++] = j;
    }
    if (q->n)
        qsort(q->v, q->n, sizeof *q->v, by_task);
    return code;
}

void queue_free(struct queue *q)
{
    free(q->v);
    *q = (struct queue){0};
}

/* In all other states the job has ended. */
static const struct {
    const char *state;
    enum job_life life;
} lives[] = {
    {"PENDING", JOB_WAITS},      {"REQUEUED", JOB_WAITS},     {"REQUEUE_FED", JOB_WAITS},
    {"REQUEUE_HOLD", JOB_WAITS}, {"SPECIAL_EXIT", JOB_WAITS}, {"CONFIGURING", JOB_WAITS},
    {"RUNNING", JOB_RUNS},       {"COMPLETING", JOB_RUNS},    {"SUSPENDED", JOB_RUNS},
    {"STOPPED", JOB_RUNS},       {"SIGNALING", JOB_RUNS},     {"STAGE_OUT", JOB_RUNS},
    {"RESIZING", JOB_RUNS},
};

enum job_life job_life(const struct job *j)
{
    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++)
        if (!strcmp(lives[i].state, j->state))
            return lives[i].life;
    return JOB_ENDED;
}

/* ---- commands ---- */

char **slurm_submit_command(const struct campaign *c, size_t k, const char *indices)
{
    struct words w = {0};
    words_add(&w, "sbatch");
    words_add(&w, "--parsable");
    words_add(&w, "--hold");
    words_addf(&w, "--comment=gradsync:%s:%zu", c->id, k);
    words_addf(&w, "--job-name=%s", c->id);
    words_add(&w, "--export=NONE");
    words_addf(&w, "--chdir=%s", c->dir);
    words_add(&w, "--output=log/%A_%a.out");
    words_addf(&w, "--array=%s", indices);
    words_addf(&w, "%s/%s", c->dir, c->arrays[k].script);
    return w.v;
}

void slurm_command_free(char **argv)
{
    for (char **a = argv; *a; a++)
        free(*a);
    free(argv);
}

int slurm_submit(const struct campaign *c, size_t k, const char *indices, long *job)
{
    AUTO(reply_free) struct reply r = {0};
    char **argv = slurm_submit_command(c, k, indices);
    int code = client_run(&r, (const char *const *)argv, "nothing was submitted");
    *job = !code && r.out.s ? strtol(r.out.s, NULL, 10) : 0; /* "12" or "12;cluster" */
    if (!code && *job < 1)
        code = fail(GS_FAILED, "sbatch printed no job id: '%.80s'", r.out.s ? r.out.s : "");
    slurm_command_free(argv);
    return code;
}

int slurm_release(const long *jobs, size_t n)
{
    AUTO_TEXT struct text list = {0};
    struct reply r;
    for (size_t i = 0; i < n; i++)
        text_addf(&list, "%s%ld", i ? "," : "", jobs[i]);
    int code = n ? client_run(&r, (const char *const[]){"scontrol", "release", list.s, NULL},
                              "the jobs are submitted, but not released")
                 : GS_OK;
    if (n)
        reply_free(&r);
    return code;
}

/* One scancel for all jobs: it accepts that some have ended meanwhile. */
int slurm_cancel(const long *jobs, size_t n)
{
    AUTO(reply_free) struct reply r = {0};
    AUTO_WORDS struct words w = {0};
    if (!n)
        return GS_OK;
    words_add(&w, "scancel");
    for (size_t i = 0; i < n; i++)
        words_addf(&w, "%ld", jobs[i]);
    return client_run(&r, (const char *const *)w.v, "not all jobs were cancelled");
}

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

/* ---- "Key=value Key=value" ---- */

static bool member(const char *line, const char *key, char *buf, size_t n)
{
    size_t k = strlen(key);
    for (const char *s = line; (s = strstr(s, key)); s += k)
        if ((s == line || s[-1] == ' ') && s[k] == '=') {
            snprintf(buf, n, "%.*s", (int)strcspn(s + k + 1, " \n"), s + k + 1);
            return true;
        }
    return false;
}

static long count(const char *line, const char *key, long otherwise)
{
    char value[64];
    char *end;
    if (!member(line, key, value, sizeof value))
        return otherwise;
    long n = strtol(value, &end, 10);
    return end == value ? otherwise : n;
}

int slurm_partition(struct partition *p, const char *name)
{
    AUTO(reply_free) struct reply r = {0};
    char value[128];
    double most;
    *p = (struct partition){.max_time_s = (double)INFINITY, .max_nodes = LONG_MAX};
    int code = client_run(
        &r, (const char *const[]){"scontrol", "show", "partition", "-o", *name ? name : NULL, NULL},
        "nothing was submitted");
    for (char *line = code ? NULL : r.out.s, *rest = line; line && (line = strsep(&rest, "\n"));) {
        const char *key = *name ? "PartitionName" : "Default", *want = *name ? name : "YES";
        if (!member(line, key, value, sizeof value) || strcmp(value, want))
            continue;
        member(line, "PartitionName", p->name, sizeof p->name);
        if (member(line, "MaxTime", value, sizeof value) && settings_slurm_time(value, &most))
            p->max_time_s = most;
        long total = count(line, "TotalNodes", LONG_MAX);
        p->max_nodes = count(line, "MaxNodes", total);
        p->max_nodes = p->max_nodes < total ? p->max_nodes : total;
        break;
    }
    return code;
}

int slurm_array_max(long *indices)
{
    AUTO(reply_free) struct reply r = {0};
    *indices = 1001;
    int code = client_run(&r, (const char *const[]){"scontrol", "show", "config", NULL},
                          "nothing was submitted");
    const char *at = !code && r.out.s ? strstr(r.out.s, "MaxArraySize") : NULL;
    const char *value = at ? strchr(at, '=') : NULL;
    if (value)
        *indices = strtol(value + 1, NULL, 10);
    return code;
}

char *slurm_submit_indices(const struct campaign *c, size_t k, const bool *wanted)
{
    const struct camp_array *a = &c->arrays[k];
    struct text t = {0};
    for (size_t i = 0; i < a->n; i++) {
        if (wanted && !wanted[a->first + i])
            continue;
        size_t last = i;
        while (last + 1 < a->n && (!wanted || wanted[a->first + last + 1]))
            last++;
        text_addf(&t, "%s%zu", t.len ? "," : "", i + 1);
        if (last > i)
            text_addf(&t, "-%zu", last + 1);
        i = last;
    }
    if (t.len && a->throttle)
        text_addf(&t, "%%%d", a->throttle);
    return t.s;
}

int slurm_submit_tasks(const struct campaign *c, const bool *wanted)
{
    AUTO_FREE long *jobs = xcalloc(c->n_arrays + 1, sizeof *jobs);
    size_t n = 0;
    int code = GS_OK;
    for (size_t k = 0; !code && k < c->n_arrays; k++) {
        char *indices = slurm_submit_indices(c, k, wanted);
        if (!indices)
            continue;
        code = slurm_submit(c, k, indices, &jobs[n]);
        if (!code)
            code = jobs_add(c, jobs[n], k, indices);
        if (!code) {
            bool one = strspn(indices, "0123456789") == strlen(indices);
            say("%sjob %ld: task%s %s of %s", wanted ? "submitted again as " : "", jobs[n],
                one ? "" : "s", indices, c->arrays[k].script);
            n++;
        }
        free(indices);
    }
    int released = slurm_release(jobs, n);
    return code ? code : released;
}
