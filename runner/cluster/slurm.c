/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/slurm.h"

#include "base/err.h"
#include "base/text.h"
#include "cluster/client.h"

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
