/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/slurm.h"

#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/secrets.h"
#include "base/shell.h"
#include "base/units.h"
#include "config/config.h"
#include "config/settings.h"
#include "plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Slurm's programs ---- */

#define PATIENCE_S 120 /* they give up after 9 s without a controller; this ends one that hangs */
#define NOT_FOUND 127

/* Variables of the user's shell, or of a job around it, that change what Slurm's programs do. */
static bool is_scrubbed(const char *variable)
{
    static const char *const scrubbed[] = {"SBATCH_", "SLURM_",   "SALLOC_",  "SQUEUE_",
                                           "SRUN_",   "SCANCEL_", "SCONTROL_"};
    if (!strncmp(variable, "SLURM_CONF=", 11) || !strncmp(variable, "SLURM_CLUSTERS=", 15))
        return false;
    for (size_t i = 0; i < COUNT(scrubbed); i++)
        if (!strncmp(variable, scrubbed[i], strlen(scrubbed[i])))
            return true;
    return !strncmp(variable, "LC_ALL=", 7);
}

struct client {
    const char *const *argv;
    char **env;
    int out, err;
};

static int become_client(void *ctx)
{
    const struct client *c = ctx;
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(c->out, STDOUT_FILENO);
    dup2(c->err, STDERR_FILENO);
    alarm(PATIENCE_S);
    execvpe(c->argv[0], (char *const *)c->argv, c->env);
    return NOT_FOUND;
}

static void read_all(int fd, struct text *t)
{
    char buf[65536];
    for (ssize_t n; (n = pread(fd, buf, sizeof buf, (off_t)t->len)) > 0;)
        text_addn(t, buf, (size_t)n);
}

int slurm_call(struct text *out, const char *purpose, const char *const *argv)
{
    static char lc_all[] = "LC_ALL=C";
    size_t n = 0, k = 0;
    while (environ[n])
        n++;
    AUTO_FREE char **env = xcalloc(n + 2, sizeof *env);
    for (size_t i = 0; i < n; i++)
        if (!is_scrubbed(environ[i]))
            env[k++] = environ[i];
    env[k] = lc_all;

    /* The output goes to files in memory: nothing has to be read while the program runs. */
    AUTO_CLOSE int fd = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
    struct client client = {argv, env, fd, err};
    int status = fd < 0 || err < 0 ? -1 : family_apart(become_client, &client);
    if (status < 0)
        return fail(GS_FAILED, "%s cannot be started: %s", argv[0], strerror(errno));
    AUTO_TEXT struct text words = {0};
    read_all(fd, out);
    read_all(err, &words);
    if (WIFEXITED(status) && !WEXITSTATUS(status))
        return GS_OK;
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND && !words.len)
        return fail(GS_CANNOT,
                    "%s: no %s in PATH: this is not a login node of a Slurm cluster; to measure "
                    "without Slurm: gradsync run",
                    purpose, argv[0]);
    /* The clients of a machine that has Slurm installed and belongs to no cluster. */
    static const char *const alone[] = {"Could not establish a configuration source",
                                        "DNS SRV lookup failed",
                                        "ClusterName needs to be specified"};
    for (size_t i = 0; i < COUNT(alone); i++)
        if (words.len && strstr(words.s, alone[i]))
            return fail(
                GS_CANNOT,
                "%s: Slurm is installed here but knows no cluster: log in to a node of the "
                "cluster, or set SLURM_CONF to its slurm.conf; to measure here: gradsync run",
                purpose);
    static const char error[] = "error: "; /* "sbatch: error: Batch job submission failed: …" */
    const char *s = words.len ? words.s : out->len ? out->s : "no reason was given"; /* scontrol */
    const char *at = strstr(s, error);
    s = at ? at + strlen(error) : s;
    if (!strncmp(s, argv[0], strlen(argv[0])) && s[strlen(argv[0])] == ':')
        s += strlen(argv[0]) + 2; /* a fault of an option: "sbatch: unrecognized option" */
    AUTO_FREE char *line = xstrfmt("%.*s", (int)strcspn(s, "\n"), s);
    return fail(GS_CANNOT, "%s: %s: %s", purpose, argv[0], printable_make(line, ""));
}

/* ---- jobs ---- */

static const char comment[] = "gradsync:"; /* and the id of the run */

int slurm_queue_read(struct slurm_queue *q)
{
    AUTO_TEXT struct text out = {0};
    *q = (struct slurm_queue){0};
    CHECK(slurm_call(&out, "the jobs cannot be listed",
                     (const char *const[]){"squeue", "-h", "-r", "-t", "all", "-n", "gradsync",
                                           "-o", "%F|%K|%T|%r|%k", NULL}));
    for (char *rest = out.s, *line; (line = strsep(&rest, "\n"));) {
        AUTO_WORDS struct words w = {0};
        words_split(&w, line, '|');
        if (w.n != 5 || strncmp(w.v[4], comment, strlen(comment)))
            continue;
        struct slurm_job *j = &APPEND(q->v, q->n);
        *j = (struct slurm_job){.run = xstrdup(w.v[4] + strlen(comment)),
                                .array = strtol(w.v[0], NULL, 10),
                                .index = strtol(w.v[1], NULL, 10)};
        snprintf(j->state, sizeof j->state, "%s", printable_make(w.v[2], ""));
        snprintf(j->reason, sizeof j->reason, "%s", printable_make(w.v[3], ""));
    }
    return GS_OK;
}

bool slurm_job_alive(const struct slurm_job *j)
{
    return text_lists("PENDING,REQUEUED,REQUEUE_FED,REQUEUE_HOLD,SPECIAL_EXIT,CONFIGURING,RUNNING,"
                      "COMPLETING,SUSPENDED,STOPPED,SIGNALING,STAGE_OUT,RESIZING",
                      ",", j->state);
}

/* By submit, which a crash may have ended before it released the job, or by Slurm, which could not start
 * it on its node. */
bool slurm_job_held(const struct slurm_job *j)
{
    return slurm_job_alive(j) &&
           (!strcmp(j->reason, "JobHeldUser") || !strcmp(j->reason, "launch failed requeued held"));
}

/* ---- the job script ---- */

#define START_S 20.0  /* to start a launch: processes, modules, container image */
#define WARNING_S 60  /* from the signal to the time limit */
#define LEAST_S 300.0 /* minimum time limit */
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static bool only(const char *s, const char *allowed)
{
    return *s && s[strspn(s, allowed)] == '\0';
}

bool slurm_path(const char *path)
{
    return printable(path, "") && !strpbrk(path, "%\\");
}

static int refuse_key(const struct plan *p, const char *key, const char *value, const char *allowed)
{
    const struct config_entry *e = config_find(p->config, "slurm", key);
    if (!e)
        return fail_at(GS_USAGE, p->config->path, 0, "[slurm] %s: refused; %s", key, allowed);
    return config_error(e, "'%.80s' is refused in a job script; %s", value, allowed);
}

/* Nothing but letters, digits and the marks of Slurm's syntax: no blank, quote, expansion or comment. */
static int add_option(struct text *t, const struct plan *p, const char *key, const char *name,
                      const char *value)
{
    if (!*value)
        return GS_OK;
    if (!only(value, LETTERS "_.,:=+@/-[]()*&|!?"))
        return refuse_key(p, key, value, "allowed: letters, digits and _.,:=+@/-[]()*&|!?");
    text_addf(t, "#SBATCH --%s=%s\n", name, value);
    return GS_OK;
}

/* [slurm] sbatch.NAME = VALUE */
static int add_other_options(struct text *t, const struct plan *p)
{
    static const char own[] =
        "time,nodes,ntasks,ntasks-per-node,partition,account,gpus-per-node,"
        "array,comment,job-name,chdir,output,error,export,hold,parsable,requeue,no-requeue,wait,"
        "open-mode,signal,wrap,test-only,input,export-file,help,version,get-user-env";
    int code = GS_OK;
    for (size_t i = 0; i < p->config->n; i++) {
        const struct config_entry *e = &p->config->entries[i];
        if (strcmp(e->section, "slurm") || strncmp(e->key, "sbatch.", 7))
            continue;
        const char *name = e->key + 7;
        if (!only(name, "abcdefghijklmnopqrstuvwxyz0123456789-") || *name == '-')
            code = config_error(e,
                                "'%.80s' is not an option of sbatch; use lower case, digits and "
                                "'-'",
                                name);
        else if (text_lists(own, ",", name))
            code = config_error(e,
                                "gradsync sets --%s itself: remove the line; see gradsync help "
                                "slurm",
                                name);
        else if (!*e->value)
            text_addf(t, "#SBATCH --%s\n", name);
        else if (add_option(t, p, e->key, name, e->value))
            code = GS_USAGE;
    }
    return code;
}

static int add_resources(struct text *t, const struct plan *p)
{
    const struct set_launch *l = &p->set.launch;
    const struct set_slurm *s = &p->set.slurm;
    const int64_t nodes = s->nodes ? s->nodes : l->nodes;
    const struct {
        const char *key, *name, *value;
    } named[] = {{"account", "account", s->account},
                 {"partition", "partition", s->partition},
                 {"gpus_per_node", "gpus-per-node",
                  s->gpus_per_node[strspn(s->gpus_per_node, "0")] ? s->gpus_per_node : ""}};
    int code = GS_OK;
    if (*p->set.platform.device && !*s->gpus_per_node &&
        !config_find(p->config, "slurm", "sbatch.gres") &&
        !config_find(p->config, "slurm", "sbatch.gpus"))
        code = fail_at(GS_USAGE, p->config->path, 0,
                       "[slurm] has no gpus_per_node, but [platform] has a device: a job would get "
                       "no GPU; set it, to 0 if the cluster gives GPUs without a request");
    for (size_t i = 0; i < COUNT(named); i++)
        if (add_option(t, p, named[i].key, named[i].name, named[i].value))
            code = GS_USAGE;
    text_addf(t, "#SBATCH --nodes=%lld\n#SBATCH --ntasks=%lld\n", (long long)nodes,
              (long long)l->ranks);
    if (l->oversubscribe)
        text_add(t, "#SBATCH --overcommit\n");
    if (l->ranks % nodes == 0)
        text_addf(t, "#SBATCH --ntasks-per-node=%lld\n", (long long)(l->ranks / nodes));
    if (s->exclusive)
        text_add(t, "#SBATCH --exclusive\n");
    return add_other_options(t, p) ? GS_USAGE : code;
}

/* [slurm] setup, the only value that the shell executes. A job whose preparation fails would measure
 * something else, so it ends. */
static int add_preparation(struct text *t, const struct plan *p)
{
    const char *line = p->set.slurm.setup;
    for (const char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return refuse_key(p, "setup", "…", "allowed: one line without control characters");
    AUTO_FREE char *shown = secrets_hidden(line);
    if (strcmp(shown, line))
        return refuse_key(p, "setup", "…",
                          "it holds a secret, and others may read the script; read it from a "
                          "file: export NAME=$(cat FILE)");
    if (*line)
        text_addf(t,
                  "%s\n"
                  "code=$?\n"
                  "[ $code = 0 ] || {\n"
                  "    echo \"gradsync: [slurm] setup ended with code $code; nothing was "
                  "measured\" >&2\n"
                  "    exit $code\n"
                  "}\n",
                  line);
    return GS_OK;
}

/* Seconds of a job if the launches of the plan take `all_s` together. */
static double job_seconds(const struct plan *p, double all_s)
{
    return all_s / (double)p->set.measure.launches + START_S + WARNING_S;
}

/* [slurm] time, or what a job takes at most. */
static double time_limit(const struct plan *p)
{
    double given = p->set.slurm.time;
    return given > 0 ? given : fmax(LEAST_S, job_seconds(p, plan_cost(p).most_s));
}

int slurm_script(struct text *t, const struct plan *p, const char *dir)
{
    AUTO_FREE char *program = xstrfmt("%s/gradsync", program_dir());
    long long minutes = (long long)ceil(time_limit(p) / 60);
    text_addf(
        t,
        "#!/bin/bash\n"
        "# %s: the index of the array is the launch.\n"
        "# You may edit this file; 'gradsync submit' on its folder submits the edited "
        "version.\n#\n"
        "# A job that is preempted or loses its node is queued again and measures the missing\n"
        "# cells. A signal before the time limit tells it to finish its block and stop.\n"
        "#SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --signal=B:USR1@%d\n"
        "#SBATCH --time=%lld-%02lld:%02lld:00\n",
        path_name(dir), WARNING_S, minutes / 1440, minutes / 60 % 24, minutes % 60);
    int code = add_resources(t, p);
    text_add(t, "\n# The job starts with a login environment; its ranks inherit the environment of "
                "this script.\nexport SLURM_EXPORT_ENV=ALL\n");
    if (add_preparation(t, p))
        code = GS_USAGE;
    text_add(t, "\ngradsync=");
    shell_quote(t, program);
    text_add(t, "\nrun=");
    shell_quote(t, dir);
    /* exec, because the signal goes to the process of the script only. */
    text_add(t,
             "\nexec \"$gradsync\" resume --commands --launch \"$SLURM_ARRAY_TASK_ID\" \"$run\"\n");
    return code;
}

/* ---- the limit of the partition ---- */

/* The value of KEY in "KEY=VALUE KEY=VALUE", in buf; NULL: there is none. */
static const char *value_of(const char *line, const char *key, char *buf, size_t n)
{
    size_t k = strlen(key);
    for (const char *s = line; (s = strstr(s, key)); s += k)
        if ((s == line || s[-1] == ' ') && s[k] == '=') {
            snprintf(buf, n, "%.*s", (int)strcspn(s + k + 1, " \n"), s + k + 1);
            return buf;
        }
    return NULL;
}

int slurm_check_time(struct plan *p)
{
    AUTO_TEXT struct text out = {0};
    char value[128], name[128] = "";
    const char *wanted = p->set.slurm.partition;
    double most = INFINITY, given = p->set.slurm.time, least = job_seconds(p, plan_cost(p).time_s);
    CHECK(slurm_call(&out, "nothing was submitted",
                     (const char *const[]){"scontrol", "show", "partition", "-o",
                                           *wanted ? wanted : NULL, NULL}));
    for (char *rest = out.s, *line; (line = strsep(&rest, "\n"));) {
        bool is_default = value_of(line, "Default", value, sizeof value) && !strcmp(value, "YES");
        if ((!*wanted && !is_default) || !value_of(line, "PartitionName", name, sizeof name))
            continue;
        if (value_of(line, "MaxTime", value, sizeof value)) /* or UNLIMITED */
            settings_slurm_time(value, &most);
        break;
    }
    if (given > most)
        return config_error(config_find(p->config, "slurm", "time"),
                            "more than the %s that partition '%s' allows; lower it, or leave it "
                            "out (a job takes %s at least)",
                            HUMAN_TIME(most), name, HUMAN_TIME(least));
    if (given <= 0 && least > most)
        return fail_at(GS_USAGE, p->config->path, 0,
                       "%s: a job takes %s at least, but partition '%s' ends it after %s; use a "
                       "smaller [measure] budget, fewer cells per section, or another partition",
                       p->section, HUMAN_TIME(least), name, HUMAN_TIME(most));
    if (time_limit(p) > most)
        p->set.slurm.time = most;
    return GS_OK;
}
