/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/slurm.h"

#include "cluster/client.h"
#include "err.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* "UNLIMITED", "30", "10:00", "1-00:00:00" (days, hours, minutes, seconds). */
static double parse_time(const char *s)
{
    double days = 0, part[3] = {0};
    int n = 0;
    char *end;
    double first = strtod(s, &end);
    if (end == s)
        return (double)INFINITY;
    if (*end == '-') {
        days = first;
        s = end + 1;
    }
    for (; n < 3; n++) {
        part[n] = strtod(s, &end);
        if (*end != ':') {
            n++;
            break;
        }
        s = end + 1;
    }
    if (days > 0 || n == 3)
        return days * 86400 + part[0] * 3600 + part[1] * 60 + part[2];
    return part[0] * 60 + part[1];
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

static void parse_partition(struct partition *p, const char *line)
{
    char value[64];
    *p = (struct partition){.max_time_s = (double)INFINITY};
    member(line, "PartitionName", p->name, sizeof p->name);
    p->up = member(line, "State", value, sizeof value) && !strcmp(value, "UP");
    if (member(line, "MaxTime", value, sizeof value))
        p->max_time_s = parse_time(value);
    p->total_nodes = count(line, "TotalNodes", 0);
    p->max_nodes = count(line, "MaxNodes", p->total_nodes);
}

/* ---- partitions ---- */

static int no_partition(const struct config *c, const char *name, const struct words *lines)
{
    const char *names[64];
    char buf[64][128];
    size_t n = 0;
    struct text all = {0};
    for (size_t i = 0; i < lines->n && n < 64; i++)
        if (member(lines->v[i], "PartitionName", buf[n], sizeof buf[n])) {
            text_addf(&all, "%s%s", n ? ", " : "", buf[n]);
            names[n] = buf[n];
            n++;
        }
    const char *near = *name ? text_nearest(name, names, n) : NULL;
    const char *there = all.s ? all.s : "there is none";
    const struct config_entry *e = config_find(c, "slurm", "partition");
    int code = *name && e
                   ? config_error(e, "no partition '%s' here%s%s%s (%s)", name,
                                  near ? ", did you mean '" : "", near ? near : "",
                                  near ? "'?" : "", there)
                   : fail_at(GS_USAGE, c->path, 0,
                             "[slurm] partition: the cluster has no default, name one (%s)", there);
    text_free(&all);
    return code;
}

int slurm_partition(struct partition *p, const struct config *c, const char *name)
{
    struct reply r;
    struct words lines;
    char value[128];
    int code = client_run(&r, (const char *const[]){"scontrol", "show", "partition", "-o", NULL},
                          "nothing was submitted");
    if (code) {
        reply_free(&r);
        return code;
    }
    words_split(&lines, r.out.s ? r.out.s : "", '\n');
    bool found = false;
    for (size_t i = 0; i < lines.n && !found; i++) {
        const char *key = *name ? "PartitionName" : "Default", *want = *name ? name : "YES";
        found = member(lines.v[i], key, value, sizeof value) && !strcmp(value, want);
        if (found)
            parse_partition(p, lines.v[i]);
    }
    if (!found)
        code = no_partition(c, name, &lines);
    words_free(&lines);
    reply_free(&r);
    return code;
}

int slurm_array_max(long *indices)
{
    struct reply r;
    *indices = 1001;
    int code = client_run(&r, (const char *const[]){"scontrol", "show", "config", NULL},
                          "nothing was submitted");
    const char *at = !code && r.out.s ? strstr(r.out.s, "MaxArraySize") : NULL;
    const char *value = at ? strchr(at, '=') : NULL;
    if (value)
        *indices = strtol(value + 1, NULL, 10);
    reply_free(&r);
    return code;
}

/* ---- the queue ---- */

static char *comment(const struct campaign *c, size_t k)
{
    return xstrfmt("gradsync:%s:%zu", c->id, k);
}

/* "gradsync:ID:K" to K; false: another's job that goes by the same name. */
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
    struct words w;
    words_split(&w, line, '|');
    bool good = w.n == 6 && ours(c, w.v[5], &j->array);
    if (good) {
        j->id = strtol(w.v[0], NULL, 10);
        j->array_job = strtol(w.v[1], NULL, 10);
        j->index = strtol(w.v[2], NULL, 10);
        snprintf(j->state, sizeof j->state, "%s", w.v[3]);
        snprintf(j->reason, sizeof j->reason, "%s", w.v[4]);
        good = j->index >= 1 && (size_t)j->index <= c->arrays[j->array].n;
    }
    words_free(&w);
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
    struct reply r;
    *q = (struct queue){0};
    int code = client_run(&r,
                          (const char *const[]){"squeue", "-h", "-r", "-t", "all", "-n", c->id,
                                                "-o", "%A|%F|%K|%T|%r|%k", NULL},
                          "what runs is not known");
    for (char *line = code ? NULL : r.out.s, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        struct job j = {0};
        if (!parse_job(c, line, &j))
            continue;
        if (!(q->n & (q->n - 1)))
            q->v = xrealloc(q->v, (q->n ? 2 * q->n : 1) * sizeof *q->v);
        q->v[q->n++] = j;
    }
    if (q->n)
        qsort(q->v, q->n, sizeof *q->v, by_task);
    reply_free(&r);
    return code;
}

void queue_free(struct queue *q)
{
    free(q->v);
    *q = (struct queue){0};
}

/* All other states have ended. */
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
    char *text = comment(c, k);
    char **argv = xcalloc(14, sizeof *argv);
    size_t n = 0;
    argv[n++] = xstrdup("sbatch");
    argv[n++] = xstrdup("--parsable");
    argv[n++] = xstrdup("--hold");
    argv[n++] = xstrfmt("--comment=%s", text);
    argv[n++] = xstrfmt("--job-name=%s", c->id);
    argv[n++] = xstrdup("--export=NONE");
    argv[n++] = xstrfmt("--chdir=%s", c->dir);
    argv[n++] = xstrdup("--output=log/%A_%a.out");
    argv[n++] = xstrfmt("--array=%s", indices);
    argv[n++] = campaign_path(c, c->arrays[k].script);
    free(text);
    return argv;
}

void slurm_command_free(char **argv)
{
    for (char **a = argv; *a; a++)
        free(*a);
    free(argv);
}

int slurm_submit(const struct campaign *c, size_t k, const char *indices, long *job)
{
    struct reply r;
    char **argv = slurm_submit_command(c, k, indices);
    int code = client_run(&r, (const char *const *)argv, "nothing was submitted");
    *job = !code && r.out.s ? strtol(r.out.s, NULL, 10) : 0; /* "12" or "12;cluster" */
    if (!code && *job < 1)
        code = fail(GS_FAILED, "sbatch printed no job id but '%.80s'", r.out.s ? r.out.s : "");
    slurm_command_free(argv);
    reply_free(&r);
    return code;
}

/* One program for all of them; some may have ended meanwhile, which is no fault. */
static int for_jobs(const char *const *command, const long *jobs, size_t n, const char *purpose)
{
    struct reply r;
    struct words w = {0};
    int code = GS_OK;
    w.v = xcalloc(n + 4, sizeof *w.v);
    for (; *command; command++)
        w.v[w.n++] = xstrdup(*command);
    for (size_t i = 0; i < n; i++)
        w.v[w.n++] = xstrfmt("%ld", jobs[i]);
    if (n) {
        code = client_run(&r, (const char *const *)w.v, purpose);
        reply_free(&r);
    }
    slurm_command_free(w.v);
    return code;
}

int slurm_release(const long *jobs, size_t n)
{
    struct text list = {0};
    struct reply r;
    for (size_t i = 0; i < n; i++)
        text_addf(&list, "%s%ld", i ? "," : "", jobs[i]);
    int code = n ? client_run(&r, (const char *const[]){"scontrol", "release", list.s, NULL},
                              "submitted, but held")
                 : GS_OK;
    if (n)
        reply_free(&r);
    text_free(&list);
    return code;
}

int slurm_cancel(const long *jobs, size_t n)
{
    return for_jobs((const char *const[]){"scancel", NULL}, jobs, n, "not all was cancelled");
}
