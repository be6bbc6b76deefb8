/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/campaign.h"

#include "cluster/words.h"
#include "err.h"
#include "jsontext.h"
#include "locate.h"
#include "text.h"
#include "version.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SCHEMA 1

char *campaign_path(const struct campaign *c, const char *below)
{
    return xstrfmt("%s/%s", c->dir, below);
}

bool campaign_is(const char *dir)
{
    char *path = xstrfmt("%s/" CAMPAIGN_FILE, dir);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* ---- a new one ---- */

static int cannot(const char *path)
{
    return fail_file(path, "made", errno);
}

static int make_root(const char *root)
{
    char *path = xstrdup(root);
    int code = GS_OK;
    for (char *s = path + 1; !code && *s; s++) {
        if (*s != '/')
            continue;
        *s = '\0';
        if (mkdir(path, 0777) && errno != EEXIST)
            code = cannot(path);
        *s = '/';
    }
    if (!code && mkdir(path, 0777) && errno != EEXIST)
        code = cannot(path);
    free(path);
    return code;
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
    char *path = campaign_path(c, name);
    int code = mkdir(path, 0777) ? cannot(path) : GS_OK;
    free(path);
    return code;
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
    int code = make_root(root);
    if (code)
        return code;
    char *absolute = realpath(root, NULL);
    if (!absolute)
        return cannot(root);
    if (!words_path(absolute))
        code = fail_at(GS_USAGE, root, 0,
                       "a campaign cannot lie here: Slurm gives '%%' and '\\' in a path a meaning "
                       "of their own (-o another folder)");
    if (!code)
        code = make_folder(c, absolute);
    if (!code)
        code = make_below(c, "runs");
    if (!code)
        code = make_below(c, "log");
    free(absolute);
    return code;
}

int campaign_add_run(struct campaign *c, const char *dir, const struct plan *p)
{
    size_t n = strlen(c->dir);
    if (strncmp(dir, c->dir, n) || dir[n] != '/')
        return fail_at(GS_FAILED, dir, 0, "lies outside of the campaign");
    c->runs = xrealloc(c->runs, (c->n_runs + 1) * sizeof *c->runs);
    c->runs[c->n_runs++] = (struct camp_run){.dir = xstrdup(dir + n + 1),
                                             .platform = xstrdup(p->set.platform.name),
                                             .section = xstrdup(p->section),
                                             .launches = (int)p->set.measure.launches,
                                             .retries = (int)p->set.measure.retries};
    return GS_OK;
}

void campaign_add_task(struct campaign *c, struct camp_task t)
{
    c->tasks = xrealloc(c->tasks, (c->n_tasks + 1) * sizeof *c->tasks);
    c->tasks[c->n_tasks++] = t;
}

void campaign_add_array(struct campaign *c, const char *script, size_t first, size_t n,
                        int throttle)
{
    c->arrays = xrealloc(c->arrays, (c->n_arrays + 1) * sizeof *c->arrays);
    c->arrays[c->n_arrays++] = (struct camp_array){xstrdup(script), first, n, throttle};
}

/* ---- writing ---- */

static int write_file(const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0)
        return cannot(path);
    size_t n = strlen(text), at = 0;
    bool bad = false;
    while (at < n && !bad) {
        ssize_t got = write(fd, text + at, n - at);
        bad = got < 0 && errno != EINTR;
        at += got > 0 ? (size_t)got : 0;
    }
    bad = bad || fsync(fd);
    int error = errno;
    if (close(fd) && !bad) {
        bad = true;
        error = errno;
    }
    return bad ? fail_file(path, "written", error) : GS_OK;
}

int campaign_file(const struct campaign *c, const char *name, const char *text, bool executable)
{
    char *path = campaign_path(c, name);
    int code = write_file(path, text, executable ? 0777 : 0666);
    free(path);
    return code;
}

static int write_tasks(const struct campaign *c)
{
    struct text t = {0};
    text_add(&t, "task\tscript\tplatform\tworkload\tlaunches\trun\n");
    for (size_t i = 0; i < c->n_tasks; i++) {
        const struct camp_task *k = &c->tasks[i];
        const struct camp_run *r = &c->runs[k->run];
        text_addf(&t, "%zu\t%s\t%s\t%s\t%d-%d\t%s\n", i + 1, c->arrays[k->array].script,
                  r->platform, r->section, k->first, k->last, r->dir);
    }
    int code = campaign_file(c, "tasks.tsv", t.s, false);
    text_free(&t);
    return code;
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
    return json_pack("{si ss ss ss so so so}", "schema", SCHEMA, "id", c->id, "gradsync",
                     GRADSYNC_VERSION, "commit", gradsync_commit, "runs", runs, "arrays", arrays,
                     "tasks", tasks);
}

int campaign_write(const struct campaign *c)
{
    int code = write_tasks(c);
    if (code)
        return code;
    json_t *json = as_json(c);
    char *text = json_dumps(json, JSON_INDENT(1));
    char *temp = campaign_path(c, "." CAMPAIGN_FILE), *path = campaign_path(c, CAMPAIGN_FILE);
    code = write_file(temp, text, 0666);
    if (!code && rename(temp, path))
        code = cannot(path);
    free(temp);
    free(path);
    free(text);
    json_decref(json);
    return code;
}

/* ---- reading ---- */

/* A folder others can write to may hold anything: paths stay below the campaign. */
static bool is_below(const char *path)
{
    return *path && *path != '/' && !strstr(path, "..");
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
            !is_below(dir) || r.launches < 1)
            return false;
        c->runs = xrealloc(c->runs, (c->n_runs + 1) * sizeof *c->runs);
        r.dir = xstrdup(dir);
        r.platform = xstrdup(platform);
        r.section = xstrdup(section);
        c->runs[c->n_runs++] = r;
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
            !is_below(script) || first < 0 || n < 1)
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
        return fail_at(GS_CANNOT, path, 0, "of another gradsync: schema %d, this one reads %d",
                       schema, SCHEMA);
    c->id = xstrdup(id);
    if (!words_sbatch(id) || !read_runs(c, json_object_get(json, "runs")) ||
        !read_arrays(c, json_object_get(json, "arrays")) ||
        !read_tasks(c, json_object_get(json, "tasks")))
        return fail_at(GS_FAILED, path, 0, "damaged: a run, an array or a task is not whole");
    return GS_OK;
}

int campaign_read(struct campaign *c, const char *dir)
{
    json_error_t why;
    *c = (struct campaign){0};
    c->dir = realpath(dir, NULL);
    if (!c->dir)
        return locate_failed(GS_USAGE, dir);
    if (!campaign_is(dir))
        return fail_at(GS_USAGE, dir, 0, "no campaign: it holds no " CAMPAIGN_FILE);
    char *path = campaign_path(c, CAMPAIGN_FILE);
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    int code = json ? read_json(c, path, json)
                    : fail_at(GS_FAILED, path, why.line, "damaged: %s", why.text);
    json_decref(json);
    free(path);
    return code;
}

int campaign_lock(const struct campaign *c, int *fd)
{
    char *path = campaign_path(c, CAMPAIGN_FILE);
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
                       "another gradsync submits, cancels or collects this campaign: try again "
                       "when it has ended");
    }
    free(path);
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
    free(c->id);
    *c = (struct campaign){0};
}
