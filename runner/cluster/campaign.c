/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/campaign.h"

#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "base/version.h"
#include "config/json_names.h"
#include "config/locate.h"
#include "config/settings_tables.h"
#include "record/begun.h"
#include "record/runs.h"
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Slurm's programs ----
 *
 * Runs a Slurm program from an argv, without a shell and with a deadline. Removes SBATCH_*, SLURM_*
 * and other variables that would change what it does.
 * Tells which config values are safe in a job script at places that cannot be quoted.
 */

/* Slurm's programs give up after 9 s without a controller; this catches one that hangs. */
#define PATIENCE_S 120
#define NOT_FOUND 127

/* Variables of the user's shell or of a surrounding job that would change what Slurm's programs
 * do. */
static const char *const scrubbed[] = {"SBATCH_", "SLURM_",   "SALLOC_",  "SQUEUE_",
                                       "SRUN_",   "SCANCEL_", "SCONTROL_"};

static bool is_scrubbed(const char *variable)
{
    if (!strncmp(variable, "SLURM_CONF=", 11))
        return false;
    for (size_t i = 0; i < COUNT(scrubbed); i++)
        if (!strncmp(variable, scrubbed[i], strlen(scrubbed[i])))
            return true;
    return false;
}

static char cluster_variable[WL_TEXT_MAX + sizeof "SLURM_CLUSTERS="];

void campaign_client_cluster(const char *name)
{
    *cluster_variable = '\0';
    if (*name)
        snprintf(cluster_variable, sizeof cluster_variable, "SLURM_CLUSTERS=%s", name);
}

static char **environment(void)
{
    static char lc_all[] = "LC_ALL=C";
    size_t n = 0, k = 0;
    while (environ[n])
        n++;
    char **env = xcalloc(n + 3, sizeof *env);
    for (size_t i = 0; i < n; i++)
        if (!is_scrubbed(environ[i]) && strncmp(environ[i], "LC_ALL=", 7))
            env[k++] = environ[i];
    env[k++] = lc_all;
    if (*cluster_variable)
        env[k] = cluster_variable;
    return env;
}

struct client {
    const char *const *argv;
    char **env;
    int out, err;
};

static int become(void *ctx)
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

static void read_back(int fd, struct text *t)
{
    char buf[65536];
    for (ssize_t n; (n = pread(fd, buf, sizeof buf, (off_t)t->len)) > 0;)
        text_addn(t, buf, (size_t)n);
}

/* The output goes to files in memory: nothing has to be read while the program runs. */
static int run(struct reply *r, const char *const *argv)
{
    AUTO_CLOSE int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
    AUTO_FREE char **env = environment();
    struct client client = {argv, env, out, err};
    int status = out < 0 || err < 0 ? -1 : family_apart(become, &client);
    if (status < 0)
        return fail(GS_FAILED, "%s cannot be started: %s", argv[0], strerror(errno));
    read_back(out, &r->out);
    read_back(err, &r->err);
    r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return GS_OK;
}

/* ---- errors ---- */

/* scontrol prints some errors on stdout. */
static const char *reply_said(const struct reply *r)
{
    return r->err.len ? r->err.s : r->out.len ? r->out.s : "";
}

/* First line of its error output, without the program name. */
static char *reply_why(const struct reply *r)
{
    static const char error[] = ": error: ";
    const char *s = reply_said(r), *at = strstr(s, error);
    s = at ? at + strlen(error) : s;
    s += strspn(s, " \n");
    return *s ? xstrfmt("%.*s", (int)strcspn(s, "\n"), s) : xstrfmt("exit %d", r->status);
}

/* Common errors: part of Slurm's message, the remedy, and the exit code. */
static const struct {
    const char *says, *remedy;
    int code;
} faults[] = {
    {"Unable to contact slurm controller",
     "the controller does not answer; nothing is lost, try again later; see scontrol ping",
     GS_CANNOT},
    {"Invalid account",
     "[slurm] account is not one of yours for this partition; see sacctmgr show associations "
     "user=$USER",
     GS_USAGE},
    {"invalid partition", "[slurm] partition does not exist; sinfo -s lists them", GS_USAGE},
    {"not found", "[slurm] partition does not exist; sinfo -s lists them", GS_USAGE},
    {"Invalid qos", "[slurm] qos is not one of yours; see sacctmgr show qos", GS_USAGE},
    {"Invalid feature",
     "[slurm] constraint names no feature of the nodes; sinfo -o '%f' lists them", GS_USAGE},
    {"Requested node configuration is not available",
     "no node has enough processors, GPUs or memory; see sinfo -o '%P %c %m %G' and change [slurm]",
     GS_USAGE},
    {"Requested partition configuration not available",
     "the partition has too few processors or nodes; see sinfo -o '%P %D %c', then change [launch] "
     "ranks and nodes",
     GS_USAGE},
    {"unrecognized option",
     "a [slurm] sbatch.NAME is not an option of this sbatch; see sbatch --help", GS_USAGE},
    {"Invalid node name", "[slurm] names an unknown node; sinfo -N lists them", GS_USAGE},
    {"Invalid license", "[slurm] names an unknown licence; scontrol show lic lists them", GS_USAGE},
    {"reservation is invalid",
     "[slurm] names a reservation that is not yours; see scontrol show res", GS_USAGE},
    {"Invalid generic resource", "no node has this [slurm] gres; see sinfo -o '%G'", GS_USAGE},
    {"more processors", "more ranks per node than processors; use fewer ranks or more nodes",
     GS_USAGE},
    {"violates", "one of your limits is reached; see squeue --me and sacctmgr show assoc",
     GS_CANNOT},
    {"resolve_ctls_from_dns",
     "this machine belongs to no cluster; to measure without Slurm: gradsync run", GS_CANNOT},
    {"configuration source",
     "this machine belongs to no cluster; to measure without Slurm: gradsync run", GS_CANNOT},
    {"resolve host", "SLURM_CONF names an unknown controller; check the file", GS_CANNOT},
    {"munge", "munged does not run here or has another key; ask the administrators", GS_CANNOT},
};

static int report(const struct reply *r, const char *program, const char *purpose)
{
    AUTO_FREE char *why = reply_why(r);
    const char *remedy = NULL;
    int code = GS_FAILED;
    for (size_t i = 0; i < COUNT(faults) && !remedy; i++)
        if (strcasestr(reply_said(r), faults[i].says)) {
            remedy = faults[i].remedy;
            code = faults[i].code;
        }
    fail((enum gs_exit)code, "%s: %s: %s%s%s%s", purpose, program, why, remedy ? " (" : "",
         remedy ? remedy : "", remedy ? ")" : "");
    return code;
}

int campaign_client_run(struct reply *r, const char *const *argv, const char *purpose)
{
    *r = (struct reply){0};
    int code = run(r, argv);
    if (code || !r->status)
        return code;
    if (r->status == NOT_FOUND && !r->err.len)
        return fail(GS_CANNOT,
                    "%s: no %s in PATH: this is not a login node of a Slurm cluster; to measure "
                    "without Slurm: gradsync run",
                    purpose, argv[0]);
    return report(r, argv[0], purpose);
}

void campaign_reply_free(struct reply *r)
{
    text_free(&r->out);
    text_free(&r->err);
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static bool only(const char *s, const char *allowed)
{
    return *s && s[strspn(s, allowed)] == '\0';
}

bool campaign_sbatch_value(const char *s)
{
    return only(s, LETTERS DIGITS "_.,:=+@/-[]()*&|!?");
}

bool campaign_sbatch_option(const char *s)
{
    return only(s, "abcdefghijklmnopqrstuvwxyz" DIGITS "-") && *s != '-';
}

bool campaign_sbatch_module(const char *s)
{
    return only(s, LETTERS DIGITS "_.+/-") && *s != '-';
}

bool campaign_sbatch_line(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return false;
    return true;
}

bool campaign_sbatch_path(const char *s)
{
    return campaign_sbatch_line(s) && !strpbrk(s, "%\\");
}

/* ---- the campaign ---- */

char *campaign_path(const struct campaign *c, const char *below)
{
    return xstrfmt("%s/%s", c->dir, below);
}

bool campaign_is(const char *dir)
{
    AUTO_FREE char *path = xstrfmt("%s/" CAMPAIGN_FILE, dir);
    return access(path, F_OK) == 0;
}

/* ---- a new one ---- */

static int cannot(const char *path)
{
    return fail_file(path, "made", errno);
}

static char *new_id(void)
{
    char at[32];
    unsigned short draw = 0;
    time_t now = time(NULL);
    struct tm utc;
    strftime(at, sizeof at, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
    if (getrandom(&draw, sizeof draw, 0) < 0)
        draw = (unsigned short)getpid();
    return xstrfmt("gs-%s-%04x", at, draw);
}

static int make_below(const struct campaign *c, const char *name)
{
    AUTO_FREE char *path = campaign_path(c, name);
    return mkdir(path, 0777) ? cannot(path) : GS_OK;
}

static int make_folder(struct campaign *c, const char *root)
{
    for (int tries = 0; tries < 64; tries++) {
        free(c->dir);
        free(c->id);
        c->id = new_id();
        c->dir = xstrfmt("%s/%s", root, c->id);
        if (!mkdir(c->dir, 0777))
            return GS_OK;
        if (errno != EEXIST)
            break;
    }
    return cannot(c->dir);
}

int campaign_make(struct campaign *c, const char *root)
{
    *c = (struct campaign){0};
    AUTO_FREE char *path = xstrfmt("%s/", root), *failed = files_make_above(path);
    if (failed)
        return cannot(failed);
    int code = GS_OK;
    AUTO_FREE char *absolute = realpath(root, NULL);
    if (!absolute)
        return cannot(root);
    if (!campaign_sbatch_path(absolute))
        code = fail_at(GS_USAGE, root, 0,
                       "a campaign path cannot contain '%%' or '\\', which Slurm expands; choose "
                       "another folder with -o");
    TRY(code, make_folder(c, absolute));
    TRY(code, make_below(c, "runs"));
    return code ? code : make_below(c, "log");
}

int campaign_add_run(struct campaign *c, const char *dir, const struct plan *p)
{
    size_t n = strlen(c->dir);
    if (strncmp(dir, c->dir, n) || dir[n] != '/')
        return fail_at(GS_FAILED, dir, 0, "is not inside the campaign folder");
    APPEND(c->runs, c->n_runs) = (struct camp_run){.dir = xstrdup(dir + n + 1),
                                                   .platform = xstrdup(p->set.platform.name),
                                                   .section = xstrdup(p->section),
                                                   .launches = (int)p->set.measure.launches,
                                                   .retries = (int)p->set.measure.retries};
    return GS_OK;
}

void campaign_add_task(struct campaign *c, struct camp_task t)
{
    APPEND(c->tasks, c->n_tasks) = t;
}

void campaign_add_array(struct campaign *c, const char *script, size_t first, size_t n,
                        int throttle)
{
    APPEND(c->arrays, c->n_arrays) = (struct camp_array){xstrdup(script), first, n, throttle};
}

int campaign_file(const struct campaign *c, const char *name, const char *text, bool executable)
{
    AUTO_FREE char *path = campaign_path(c, name);
    bool made = files_write_new(path, text, executable ? 0777 : 0666);
    return made ? GS_OK : fail_file(path, "written", errno);
}

int campaign_lock(const struct campaign *c, int *fd)
{
    AUTO_FREE char *path = campaign_path(c, CAMPAIGN_FILE);
    int code = GS_OK;
    *fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (*fd < 0)
        *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (*fd < 0)
        code = fail_at(GS_FAILED, path, 0, "cannot be opened: %s", strerror(errno));
    else if (flock(*fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        close(*fd);
        *fd = -1;
        code = fail_at(GS_CANNOT, c->dir, 0,
                       "another gradsync is submitting, cancelling or collecting this campaign; "
                       "try again when it has ended");
    }
    return code;
}

void campaign_free(struct campaign *c)
{
    for (size_t i = 0; i < c->n_runs; i++) {
        free(c->runs[i].dir);
        free(c->runs[i].platform);
        free(c->runs[i].section);
    }
    for (size_t i = 0; i < c->n_arrays; i++)
        free(c->arrays[i].script);
    free(c->runs);
    free(c->tasks);
    free(c->arrays);
    free(c->dir);
    free(c->cluster);
    free(c->id);
    *c = (struct campaign){0};
}

#define SCHEMA 1

/* ---- writing ---- */

static int write_tasks(const struct campaign *c)
{
    AUTO_TEXT struct text t = {0};
    text_add(&t, "task\tscript\tplatform\tworkload\tlaunches\trun\n");
    for (size_t i = 0; i < c->n_tasks; i++) {
        const struct camp_task *k = &c->tasks[i];
        const struct camp_run *r = &c->runs[k->run];
        text_addf(&t, "%zu\t%s\t%s\t%s\t%d-%d\t%s\n", i + 1, c->arrays[k->array].script,
                  r->platform, r->section, k->first, k->last, r->dir);
    }
    return campaign_file(c, "tasks.tsv", t.s, false);
}

static json_t *as_json(const struct campaign *c)
{
    json_t *runs = json_array(), *tasks = json_array(), *arrays = json_array();
    for (size_t i = 0; i < c->n_runs; i++) {
        const struct camp_run *r = &c->runs[i];
        json_array_append_new(runs, json_pack("{ss ss ss si si}", "dir", r->dir, "platform",
                                              r->platform, "section", r->section, "launches",
                                              r->launches, "retries", r->retries));
    }
    for (size_t i = 0; i < c->n_tasks; i++)
        json_array_append_new(tasks,
                              json_pack("[iiii]", (int)c->tasks[i].run, (int)c->tasks[i].array,
                                        c->tasks[i].first, c->tasks[i].last));
    for (size_t i = 0; i < c->n_arrays; i++)
        json_array_append_new(arrays,
                              json_pack("{ss si si si}", "script", c->arrays[i].script, "first",
                                        (int)c->arrays[i].first, "tasks", (int)c->arrays[i].n,
                                        "throttle", c->arrays[i].throttle));
    json_t *o = json_pack("{si ss ss ss so so so}", "schema", SCHEMA, "id", c->id, "gradsync",
                          GRADSYNC_VERSION, "commit", gradsync_commit, "runs", runs, "arrays",
                          arrays, "tasks", tasks);
    if (c->cluster)
        json_object_set_new(o, "cluster", json_text(c->cluster));
    return o;
}

int campaign_write(const struct campaign *c)
{
    int code = write_tasks(c);
    if (code)
        return code;
    AUTO_JSON json_t *json = as_json(c);
    AUTO_FREE char *text = json_dumps(json, JSON_INDENT(1));
    AUTO_FREE char *temp = campaign_path(c, "." CAMPAIGN_FILE),
                   *path = campaign_path(c, CAMPAIGN_FILE);
    code = campaign_file(c, "." CAMPAIGN_FILE, text, false);
    if (!code && rename(temp, path))
        code = fail_file(path, "made", errno);
    if (!code)
        begun_mark(c->dir);
    return code;
}

/* ---- reading ---- */

/* Others may have written the file: "runs/P/W/RUN" and nothing else, and names that need no
 * quotes. */
static bool is_run_dir(const char *dir)
{
    AUTO_WORDS struct words w = {0};
    words_split(&w, dir, '/');
    bool good = w.n == 4 && !strcmp(w.v[0], "runs");
    for (size_t i = 1; i < w.n; i++)
        good = good && printable_name(w.v[i]);
    AUTO_FREE char *again = good ? xstrfmt("runs/%s/%s/%s", w.v[1], w.v[2], w.v[3]) : NULL;
    good = good && !strcmp(again, dir); /* words_split trims blanks */
    return good;
}

static bool read_runs(struct campaign *c, json_t *list)
{
    size_t i;
    json_t *o;
    json_array_foreach(list, i, o)
    {
        const char *dir, *platform, *section;
        struct camp_run r;
        if (json_unpack(o, "{ss ss ss si si}", "dir", &dir, "platform", &platform, "section",
                        &section, "launches", &r.launches, "retries", &r.retries) ||
            !is_run_dir(dir) || r.launches < 1 || r.launches > SET_LAUNCHES_MAX)
            return false;
        r.dir = xstrdup(dir);
        r.platform = xstrdup(platform);
        r.section = xstrdup(section);
        APPEND(c->runs, c->n_runs) = r;
    }
    return true;
}

static bool read_arrays(struct campaign *c, json_t *list)
{
    size_t i;
    json_t *o;
    json_array_foreach(list, i, o)
    {
        const char *script;
        int first, n, throttle;
        if (json_unpack(o, "{ss si si si}", "script", &script, "first", &first, "tasks", &n,
                        "throttle", &throttle) ||
            !printable_name(script) || first < 0 || n < 1)
            return false;
        campaign_add_array(c, script, (size_t)first, (size_t)n, throttle);
    }
    return true;
}

static bool read_tasks(struct campaign *c, json_t *list)
{
    size_t i;
    json_t *o;
    json_array_foreach(list, i, o)
    {
        int run, array, first, last;
        if (json_unpack(o, "[iiii]", &run, &array, &first, &last) || run < 0 ||
            (size_t)run >= c->n_runs || array < 0 || (size_t)array >= c->n_arrays || first < 1 ||
            last < first || last > c->runs[run].launches)
            return false;
        campaign_add_task(c, (struct camp_task){(size_t)run, (size_t)array, first, last});
    }
    for (i = 0; i < c->n_arrays; i++)
        if (c->arrays[i].first + c->arrays[i].n > c->n_tasks)
            return false;
    return true;
}

static int read_json(struct campaign *c, const char *path, json_t *json)
{
    const char *id;
    int schema;
    if (json_unpack(json, "{si ss}", "schema", &schema, "id", &id))
        return fail_at(GS_FAILED, path, 0, "damaged: no number 'schema' or no text 'id'");
    if (schema != SCHEMA)
        return fail_at(GS_CANNOT, path, 0,
                       "schema %d is from another version of gradsync; this one reads schema %d",
                       schema, SCHEMA);
    c->id = xstrdup(id);
    const char *cluster = json_text_of(json, "cluster");
    if (*cluster && campaign_sbatch_value(cluster)) {
        c->cluster = xstrdup(cluster);
        campaign_client_cluster(cluster);
    }
    if (!campaign_sbatch_value(id) || !read_runs(c, json_object_get(json, "runs")) ||
        !read_arrays(c, json_object_get(json, "arrays")) ||
        !read_tasks(c, json_object_get(json, "tasks")))
        return fail_at(GS_FAILED, path, 0, "damaged: a run, an array or a task is invalid");
    return GS_OK;
}

int campaign_read(struct campaign *c, const char *dir)
{
    json_t *json;
    *c = (struct campaign){0};
    c->dir = realpath(dir, NULL);
    if (!c->dir)
        return locate_failed(GS_USAGE, dir, LOCATE_CAMPAIGN);
    if (!campaign_is(dir))
        return fail_at(GS_USAGE, dir, 0,
                       "is not a campaign: it has no " CAMPAIGN_FILE
                       "; give the folder that 'gradsync submit' printed");
    AUTO_FREE char *path = campaign_path(c, CAMPAIGN_FILE);
    int code = json_names_load(&json, path);
    TRY(code, read_json(c, path, json));
    json_decref(json);
    return code;
}

bool campaign_configs_is_folder(const char *path)
{
    AUTO_FREE char *plan = xstrfmt("%s/plan.json", path);
    bool run = access(plan, F_OK) == 0;
    return !run && files_is_folder(path) && !campaign_is(path);
}

int campaign_configs_add(struct words *list, const char *path)
{
    AUTO_WORDS struct words names = {0};
    if (!files_is_folder(path)) {
        words_add(list, path);
        return GS_OK;
    }
    if (!files_list(path, "*.ini", &names))
        return fail_at(GS_USAGE, path, 0, "cannot be read: %s", strerror(errno));
    for (size_t i = 0; i < names.n; i++)
        words_addf(list, "%s/%s", path, names.v[i]);
    return names.n
               ? GS_OK
               : fail_at(GS_USAGE, path, 0,
                         "is neither a run folder nor a campaign, and holds no config (NAME.ini)");
}
