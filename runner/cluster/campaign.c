/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/campaign.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "cluster/sbatch_words.h"

#include <errno.h>
#include <fcntl.h>
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
