/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes and reads campaign.json; writes tasks.tsv.
 */
#include "cluster/campaign.h"

#include "base/err.h"
#include "base/files.h"
#include "base/json_names.h"
#include "base/jsontext.h"
#include "base/locate.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/version.h"
#include "cluster/client.h"
#include "config/settings_tables.h"
#include "record/begun.h"

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

static int make_root(const char *root)
{
    AUTO_FREE char *path = xstrfmt("%s/", root), *failed = files_make_above(path);
    return failed ? cannot(failed) : GS_OK;
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
        free(c->cluster);
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
    AUTO_FREE char *absolute = realpath(root, NULL);
    if (!absolute)
        return cannot(root);
    if (!sbatch_words_path(absolute))
        code = fail_at(GS_USAGE, root, 0,
                       "a campaign path cannot contain '%%' or '\\', which Slurm expands; choose "
                       "another folder with -o");
    if (!code)
        code = make_folder(c, absolute);
    if (!code)
        code = make_below(c, "runs");
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

/* Others may have written the file: "runs/P/W/RUN" and nothing else, and names that need no quotes. */
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
    if (*cluster && sbatch_words_value(cluster)) {
        c->cluster = xstrdup(cluster);
        client_cluster(cluster);
    }
    if (!sbatch_words_value(id) || !read_runs(c, json_object_get(json, "runs")) ||
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
    if (!code)
        code = read_json(c, path, json);
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
