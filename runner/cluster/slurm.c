/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/slurm.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/secrets.h"
#include "base/shell.h"
#include "base/units.h"
#include "config/settings.h"
#include "plan/plan_cost.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limits of a partition: only those that Slurm accepts and then lets a job wait for ever: the time
 * and the nodes of the partition (also sbatch --test-only accepts 99 h where 10 min are allowed).
 * It refuses everything else when a job is submitted, and its words are passed on. */
struct partition {
    char name[128];
    double max_time_s; /* INFINITY: none */
    long max_nodes;    /* LONG_MAX: none */
};

/* ---- the queue ---- */

/* The fields of a job in the reply of squeue; the folder comes last, because it may hold any
 * mark. */
#define JOB_FIELDS "%A|%F|%K|%T|%r|%U|%k|%Z"
enum { JOB_FIELDS_N = 8 };

/* Reads K from the comment "gradsync:ID:K" that slurm_submit_command sets. False: a foreign job of
 * the same name. */
static bool is_ours(const struct campaign *c, const char *text, size_t *k)
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
    bool good = folder && is_ours(c, w.v[6], &j->array);
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
    AUTO(campaign_reply_free) struct reply r = {0};
    *q = (struct queue){0};
    int code = campaign_client_run(&r,
                                   (const char *const[]){"squeue", "-h", "-r", "-t", "all", "-n",
                                                         c->id, "-o", JOB_FIELDS, NULL},
                                   "cannot list the jobs");
    for (char *rest = code ? NULL : r.out.s, *line; (line = strsep(&rest, "\n"));) {
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

void slurm_queue_free(struct queue *q)
{
    free(q->v);
    *q = (struct queue){0};
}

enum job_life slurm_job_life(const struct job *j)
{
    if (text_lists("PENDING,REQUEUED,REQUEUE_FED,REQUEUE_HOLD,SPECIAL_EXIT,CONFIGURING", ",",
                   j->state))
        return JOB_WAITS;
    return text_lists("RUNNING,COMPLETING,SUSPENDED,STOPPED,SIGNALING,STAGE_OUT,RESIZING", ",",
                      j->state)
               ? JOB_RUNS
               : JOB_ENDED;
}

/* ---- commands ---- */

void slurm_submit_command(struct words *w, const struct campaign *c, size_t k, const char *indices)
{
    words_add(w, "sbatch");
    words_add(w, "--parsable");
    words_add(w, "--hold");
    words_addf(w, "--comment=gradsync:%s:%zu", c->id, k);
    words_addf(w, "--job-name=%s", c->id);
    words_add(w, "--export=NONE");
    words_addf(w, "--chdir=%s", c->dir);
    words_add(w, "--output=log/%A_%a.out");
    words_addf(w, "--array=%s", indices);
    words_addf(w, "%s/%s", c->dir, c->arrays[k].script);
}

static int slurm_submit(const struct campaign *c, size_t k, const char *indices, long *job)
{
    AUTO(campaign_reply_free) struct reply r = {0};
    AUTO_WORDS struct words w = {0};
    slurm_submit_command(&w, c, k, indices);
    int code = campaign_client_run(&r, (const char *const *)w.v, "nothing was submitted");
    *job = !code && r.out.s ? strtol(r.out.s, NULL, 10) : 0; /* "12" or "12;cluster" */
    if (!code && *job < 1)
        code = fail(GS_FAILED, "sbatch printed no job id: '%.80s'", r.out.s ? r.out.s : "");
    return code;
}

int slurm_release(const long *jobs, size_t n)
{
    AUTO(campaign_reply_free) struct reply r = {0};
    AUTO_TEXT struct text list = {0};
    for (size_t i = 0; i < n; i++)
        text_addf(&list, "%s%ld", i ? "," : "", jobs[i]);
    return n ? campaign_client_run(&r, (const char *const[]){"scontrol", "release", list.s, NULL},
                                   "the jobs are submitted, but not released")
             : GS_OK;
}

/* One scancel for all jobs: it accepts that some have ended meanwhile. */
int slurm_cancel(const long *jobs, size_t n)
{
    AUTO(campaign_reply_free) struct reply r = {0};
    AUTO_WORDS struct words w = {0};
    if (!n)
        return GS_OK;
    words_add(&w, "scancel");
    for (size_t i = 0; i < n; i++)
        words_addf(&w, "%ld", jobs[i]);
    return campaign_client_run(&r, (const char *const *)w.v, "not all jobs were cancelled");
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

int slurm_jobs_add(const struct campaign *c, long job, size_t array, const char *indices)
{
    char at[32];
    return append(c,
                  json_pack("{ss ss sI sI ss}", "type", "job", "at", record_time(at, sizeof at),
                            "job", (json_int_t)job, "array", (json_int_t)array, "tasks", indices));
}

int slurm_jobs_cancelled(const struct campaign *c)
{
    char at[32];
    return append(c, json_pack("{ss ss}", "type", "cancel", "at", record_time(at, sizeof at)));
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

int slurm_jobs_read(struct jobs *j, const struct campaign *c)
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

void slurm_jobs_free(struct jobs *j)
{
    for (size_t i = 0; i < j->n; i++)
        free(j->v[i].indices);
    free(j->v);
    *j = (struct jobs){0};
}

/* ---- queries ---- */

bool slurm_jobs_knows(const struct jobs *j, long job)
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

long slurm_jobs_last(const struct jobs *j, const struct campaign *c, size_t task)
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

/* The partition `name`, or the default for "". GS_OK, or reported: no such partition, no Slurm. */
static int slurm_partition(struct partition *p, const char *name)
{
    AUTO(campaign_reply_free) struct reply r = {0};
    char value[128];
    double most;
    *p = (struct partition){.max_time_s = (double)INFINITY, .max_nodes = LONG_MAX};
    int code = campaign_client_run(
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
    AUTO(campaign_reply_free) struct reply r = {0};
    *indices = 1001;
    int code = campaign_client_run(&r, (const char *const[]){"scontrol", "show", "config", NULL},
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
        AUTO_FREE char *indices = slurm_submit_indices(c, k, wanted);
        if (!indices)
            continue;
        code = slurm_submit(c, k, indices, &jobs[n]);
        TRY(code, slurm_jobs_add(c, jobs[n], k, indices));
        if (!code) {
            bool one = strspn(indices, "0123456789") == strlen(indices);
            say("%sjob %ld: task%s %s of %s", wanted ? "submitted again as " : "", jobs[n],
                one ? "" : "s", indices, c->arrays[k].script);
            n++;
        }
    }
    int released = slurm_release(jobs, n);
    return code ? code : released;
}

/* ---- the job script, which users may read and edit ---- */

#define START_S 20.0  /* to start a launch: processes, modules, container image */
#define WARNING_S 60  /* from the signal to the time limit */
#define LEAST_S 300.0 /* minimum time limit */

/* ---- resources ---- */

static int refuse(const struct plan *p, const char *key, const char *value, const char *allowed)
{
    const struct config_entry *e = config_find(p->config, "slurm", key);
    if (!e)
        return fail_at(GS_USAGE, p->config->path, 0, "[slurm] %s: refused; %s", key, allowed);
    return config_error(e, "'%.80s' is refused in a job script; %s", value, allowed);
}

static int option(struct text *t, const struct plan *p, const char *key, const char *name,
                  const char *value)
{
    if (!*value)
        return GS_OK;
    if (!campaign_sbatch_value(value))
        return refuse(p, key, value, "allowed: letters, digits and _.,:=+@/-[]()*&|!?");
    text_addf(t, "#SBATCH --%s=%s\n", name, value);
    return GS_OK;
}

/* Options that a key of the config sets, and those by which gradsync finds its jobs and results. */
static const struct {
    const char *name, *key;
} taken[] = {{"time", "[slurm] time"},         {"nodes", "[slurm] nodes"},
             {"ntasks", "[launch] ranks"},     {"ntasks-per-node", "[launch] ranks and nodes"},
             {"clusters", "[slurm] clusters"}, {"partition", "[slurm] partition"},
             {"account", "[slurm] account"},   {"qos", "[slurm] qos"},
             {"array", "[slurm] throttle"}};

static const char own[] =
    "comment,job-name,chdir,output,error,export,hold,parsable,requeue,no-requeue,wait,open-mode,"
    "signal,wrap,test-only,input,dependency,export-file,help,version,get-user-env";

static int other_option(struct text *t, const struct plan *p, const struct config_entry *e)
{
    const char *name = e->key + strlen("sbatch.");
    if (!campaign_sbatch_option(name))
        return config_error(e, "'%.80s' is not an option of sbatch; use lower case, digits and '-'",
                            name);
    for (size_t i = 0; i < COUNT(taken); i++)
        if (!strcmp(taken[i].name, name))
            return config_error(e, "gradsync sets --%s itself; remove the line, and use %s", name,
                                taken[i].key);
    if (text_lists(own, ",", name))
        return config_error(e, "gradsync sets --%s itself; remove the line", name);
    if (!*e->value) {
        text_addf(t, "#SBATCH --%s\n", name);
        return GS_OK;
    }
    return option(t, p, e->key, name, e->value);
}

static int other_options(struct text *t, const struct plan *p)
{
    int code = GS_OK;
    for (size_t i = 0; i < p->config->n; i++) {
        const struct config_entry *e = &p->config->entries[i];
        if (!strcmp(e->section, "slurm") && !strncmp(e->key, "sbatch.", 7) && other_option(t, p, e))
            code = GS_USAGE;
    }
    return code;
}

static int named_options(struct text *t, const struct plan *p)
{
    const struct set_slurm *s = &p->set.slurm;
    const struct {
        const char *key, *name, *value;
    } table[] = {{"account", "account", s->account},
                 {"partition", "partition", s->partition},
                 {"clusters", "clusters", s->clusters},
                 {"gpus_per_node", "gpus-per-node", settings_slurm_gpus(s) ? s->gpus_per_node : ""},
                 {"qos", "qos", s->qos},
                 {"constraint", "constraint", s->constraint},
                 {"gres", "gres", s->gres}};
    int code = GS_OK;
    for (size_t i = 0; i < COUNT(table); i++)
        if (option(t, p, table[i].key, table[i].name, table[i].value))
            code = GS_USAGE;
    return code;
}

static void add_size(struct text *t, const struct plan *p)
{
    const struct set_launch *l = &p->set.launch;
    const struct set_slurm *s = &p->set.slurm;
    int64_t nodes = s->nodes ? s->nodes : l->nodes;
    text_addf(t, "#SBATCH --nodes=%lld\n#SBATCH --ntasks=%lld\n", (long long)nodes,
              (long long)l->ranks);
    if (l->oversubscribe)
        text_add(t, "#SBATCH --overcommit\n");
    if (l->ranks % nodes == 0)
        text_addf(t, "#SBATCH --ntasks-per-node=%lld\n", (long long)(l->ranks / nodes));
    if (s->exclusive)
        text_add(t, "#SBATCH --exclusive\n");
}

/* ---- before the run ---- */

/* Without what it was to prepare, the job would measure something else. */
#define SOUND                                                                                      \
    "sound() {\n"                                                                                  \
    "    [ \"$1\" = 0 ] || {\n"                                                                    \
    "        echo \"gradsync: [slurm] $2 ended with code $1; nothing was measured\" >&2\n"         \
    "        exit \"$1\"\n"                                                                        \
    "    }\n"                                                                                      \
    "}\n"

static int modules(struct text *t, const struct plan *p)
{
    const char *s = p->set.slurm.modules;
    int code = GS_OK;
    for (size_t n; !code && *(s += strspn(s, " \t,")); s += n) {
        n = strcspn(s, " \t,");
        AUTO_FREE char *name = xstrfmt("%.*s", (int)n, s);
        if (campaign_sbatch_module(name))
            text_addf(t, "module load %s\nsound $? 'module load %s'\n", name, name);
        else
            code = refuse(p, "modules", name, "allowed: letters, digits and _.+/-");
    }
    return code;
}

/* `setup` is the only value that the shell executes. */
static int setup(struct text *t, const struct plan *p)
{
    const char *line = p->set.slurm.setup;
    if (!*line)
        return GS_OK;
    if (!campaign_sbatch_line(line))
        return refuse(p, "setup", "…", "allowed: one line without control characters");
    AUTO_FREE char *shown = secrets_hidden(line);
    bool secret = strcmp(shown, line) != 0;
    text_addf(t, "%s\nsound $? setup\n", line);
    return secret ? refuse(p, "setup", "…",
                           "it holds a secret, and others may read the script; read it from a "
                           "file: export NAME=$(cat FILE)")
                  : GS_OK;
}

/* A job that asks for no GPU gets none, or those of another job. */
static int check_gpus(const struct plan *p)
{
    const struct set_slurm *s = &p->set.slurm;
    const char *count = strrchr(s->gpus_per_node, ':');
    count = count ? count + 1 : s->gpus_per_node;
    if (*s->gpus_per_node && (!*count || count[strspn(count, "0123456789")]))
        return refuse(p, "gpus_per_node", s->gpus_per_node,
                      "write the GPUs of a node, e.g. 4 or h100:4");
    if (strchr(s->clusters, ','))
        return refuse(p, "clusters", s->clusters, "name one cluster");
    bool gpus = *p->set.platform.device || !strncmp(p->section, "nccl_", 5);
    bool asked = *s->gpus_per_node || *s->gres;
    for (size_t i = 0; i < p->config->n && !asked; i++)
        asked = !strcmp(p->config->entries[i].section, "slurm") &&
                (!strncmp(p->config->entries[i].key, "sbatch.gpus", 11) ||
                 !strncmp(p->config->entries[i].key, "sbatch.tres", 11));
    if (!gpus || asked)
        return GS_OK;
    return fail_at(GS_USAGE, p->config->path, 0,
                   "[slurm] gpus_per_node: missing, so the jobs would ask for no GPU; set "
                   "gpus_per_node = %lld, or gres; 0 if this cluster gives out whole nodes",
                   (long long)(p->set.launch.ranks / p->set.launch.nodes));
}

/* Resource, module and setup lines of a plan, as script text. GS_OK, or GS_USAGE reported at its
 * key: a value that is not safe in a #SBATCH line. */
static int script_shape(struct text *t, const struct plan *p)
{
    int code = named_options(t, p);
    if (check_gpus(p))
        code = GS_USAGE;
    add_size(t, p);
    if (other_options(t, p))
        code = GS_USAGE;
    text_add(t, "\n# The job starts with a login environment; its ranks inherit the environment of "
                "this script.\n"
                "export SLURM_EXPORT_ENV=ALL\n");
    if (*p->set.slurm.modules || *p->set.slurm.setup)
        text_add(t, SOUND);
    if (modules(t, p) || setup(t, p))
        code = GS_USAGE;
    return code;
}

/* ---- time ---- */

static double part(const struct plan *p, double all, int launches)
{
    return all * launches / (double)p->set.measure.launches + START_S * launches + WARNING_S;
}

/* Maximum seconds for `launches` launches, with their start: [slurm] time, if it is set. */
static double script_time_most(const struct plan *p, int launches)
{
    double given = p->set.slurm.time;
    return given > 0 ? given : fmax(LEAST_S, part(p, plan_cost(p).most_s, launches));
}

static void add_time(struct text *t, double seconds)
{
    long long min = (long long)ceil(seconds / 60);
    text_addf(t, "#SBATCH --time=%lld-%02lld:%02lld:00\n", min / 1440, min / 60 % 24, min % 60);
}

/* ---- the script ---- */

struct script {
    const char *shape;    /* from script_shape */
    const char *campaign; /* folder; its last part is the id */
    size_t first, n;      /* tasks */
    double time_s;
};

static void script_text(struct text *t, const struct script *s)
{
    AUTO_FREE char *program = xstrfmt("%s/gradsync", program_dir());
    text_addf(t, "#!/bin/bash\n# %s: tasks %zu to %zu of tasks.tsv, one per index of the array.\n",
              path_name(s->campaign), s->first + 1, s->first + s->n);
    text_add(
        t, "# You may edit this file; 'gradsync resume' submits the edited version.\n#\n"
           "# A job that is preempted or loses its node is queued again and measures the missing\n"
           "# cells. A signal before the time limit tells it to finish its block and stop.\n"
           "#SBATCH --requeue\n#SBATCH --open-mode=append\n");
    text_addf(t, "#SBATCH --signal=B:USR1@%d\n", WARNING_S);
    add_time(t, s->time_s);
    text_add(t, s->shape);
    text_add(t, "\ngradsync=");
    shell_quote(t, program);
    text_add(t, "\ncampaign=");
    shell_quote(t, s->campaign);
    /* exec, because the signal goes to the process of the script only. */
    text_addf(t, "\nexec \"$gradsync\" run \"$campaign\" --task $((%zu + SLURM_ARRAY_TASK_ID))\n",
              s->first);
}

/* ---- shapes ---- */

static int launches_of_a_task(const struct plan *p)
{
    int64_t n = p->set.slurm.launches;
    return (int)(n < p->set.measure.launches ? n : p->set.measure.launches);
}

static struct shape *shape_of(struct shapes *s, char *text)
{
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->v[i].text, text)) {
            free(text);
            return &s->v[i];
        }
    APPEND(s->v, s->n) = (struct shape){.text = text};
    return &s->v[s->n - 1];
}

int slurm_shapes(struct shapes *s, struct plan *const *plans, size_t n)
{
    const struct config *refused = NULL; /* report the faults of a [slurm] once, not per workload */
    *s = (struct shapes){0};
    for (size_t i = 0; i < n; i++) {
        struct text t = {0};
        if (plans[i]->config == refused)
            continue;
        if (script_shape(&t, plans[i]))
            refused = plans[i]->config;
        struct shape *h = shape_of(s, t.s);
        double time_s = script_time_most(plans[i], launches_of_a_task(plans[i]));
        h->time_s = time_s > h->time_s ? time_s : h->time_s;
        APPEND(h->plans, h->n) = i;
    }
    return refused ? GS_USAGE : GS_OK;
}

void slurm_shapes_free(struct shapes *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].text);
        free(s->v[i].plans);
    }
    free(s->v);
    *s = (struct shapes){0};
}

/* ---- limits ---- */

static int check_plan(const struct plan *p, const struct partition *q)
{
    char need[32], most[32];
    int64_t nodes = p->set.slurm.nodes ? p->set.slurm.nodes : p->set.launch.nodes;
    /* If every group stops as early as it can. */
    double least = part(p, plan_cost(p).time_s, launches_of_a_task(p)), given = p->set.slurm.time;
    if (nodes > q->max_nodes)
        return fail_at(GS_USAGE, p->config->path, 0,
                       "%s: %lld nodes, but partition '%s' allows at most %ld per job", p->section,
                       (long long)nodes, q->name, q->max_nodes);
    if ((given > 0 ? given : least) <= q->max_time_s)
        return GS_OK;
    units_human_time(most, sizeof most, q->max_time_s);
    units_human_time(need, sizeof need, least);
    if (given > 0)
        return config_error(config_find(p->config, "slurm", "time"),
                            "more than the %s that partition '%s' allows; lower it, or leave it "
                            "out (a job takes %s at least)",
                            most, q->name, need);
    return fail_at(GS_USAGE, p->config->path, 0,
                   "%s: a job takes %s at least, but partition '%s' ends it after %s; use a "
                   "smaller [measure] budget, fewer cells per section, or another partition",
                   p->section, need, q->name, most);
}

static int check_shape(struct shape *h, struct plan *const *plans)
{
    struct partition q;
    const struct plan *p = plans[h->plans[0]];
    int code = slurm_partition(&q, p->set.slurm.partition);
    if (code)
        return code;
    for (size_t i = 0; i < h->n && !(code && p->set.slurm.time > 0); i++) {
        int one = check_plan(plans[h->plans[i]], &q);
        code = code ? code : one;
    }
    if (h->time_s > q.max_time_s)
        h->time_s = q.max_time_s;
    return code;
}

int slurm_check(struct shapes *s, struct plan *const *plans)
{
    int code = GS_OK;
    for (size_t i = 0; !code && i < s->n; i++)
        code = check_shape(&s->v[i], plans);
    return code;
}

/* ---- tasks ---- */

static int throttle_of(const struct shape *h, struct plan *const *plans)
{
    int64_t least = 0;
    for (size_t i = 0; i < h->n; i++) {
        int64_t n = plans[h->plans[i]]->set.slurm.throttle;
        least = n && (!least || n < least) ? n : least;
    }
    return (int)least;
}

/* Adds all tasks of a shape; arrays are assigned later. The first launch of every workload comes
 * before the second of any, so that figures can be drawn early. */
static void add_tasks(struct campaign *c, const struct shape *h, struct plan *const *plans)
{
    bool more = true;
    for (int round = 0; more; round++) {
        more = false;
        for (size_t i = 0; i < h->n; i++) {
            const struct plan *p = plans[h->plans[i]];
            int step = launches_of_a_task(p), first = 1 + round * step;
            int all = (int)p->set.measure.launches;
            int last = first + step - 1 < all ? first + step - 1 : all;
            if (first > all)
                continue;
            more = true;
            campaign_add_task(c, (struct camp_task){h->plans[i], 0, first, last});
        }
    }
}

static int add_array(struct campaign *c, const struct shape *h, size_t first, size_t n,
                     int throttle,
                     int (*script)(const struct campaign *, const char *, const char *))
{
    char name[32];
    AUTO_TEXT struct text t = {0};
    snprintf(name, sizeof name, "array-%zu.sh", c->n_arrays + 1);
    for (size_t i = first; i < first + n; i++)
        c->tasks[i].array = c->n_arrays;
    campaign_add_array(c, name, first, n, throttle);
    script_text(&t, &(struct script){h->text, c->dir, first, n, h->time_s});
    return script(c, name, t.s);
}

int slurm_tasks(struct campaign *c, const struct shapes *s, struct plan *const *plans,
                long array_max, int (*script)(const struct campaign *, const char *, const char *))
{
    const size_t most = array_max > 2 ? (size_t)array_max - 1 : 1;
    int code = GS_OK;
    for (size_t k = 0; !code && k < s->n; k++) {
        size_t at = c->n_tasks;
        add_tasks(c, &s->v[k], plans);
        for (size_t n; !code && at < c->n_tasks; at += n) {
            n = c->n_tasks - at < most ? c->n_tasks - at : most;
            code = add_array(c, &s->v[k], at, n, throttle_of(&s->v[k], plans), script);
        }
    }
    return code;
}
