/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/collect.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "cluster/cluster_status.h"
#include "cluster/copy_run.h"
#include "record/manifest.h"
#include "record/runs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot(const char *path)
{
    return fail_file(path, "made", errno);
}

/* The user chose `raw`, which may be a link. Below it, links are refused: they may lead elsewhere. */
static int make_folder(const char *path, bool below)
{
    struct stat s;
    if (!mkdir(path, 0777))
        return GS_OK;
    if (errno != EEXIST)
        return cannot(path);
    if (below && !lstat(path, &s) && S_ISLNK(s.st_mode))
        return fail_at(GS_FAILED, path, 0,
                       "is a link, which is not followed; give its target with -o");
    return GS_OK;
}

/* *target = RAW/P/W/RUN for "runs/P/W/RUN"; creates P and W. The caller frees it. */
static int target_of(const char *raw, const char *run, char **target)
{
    *target = xstrfmt("%s/%s", raw, strchr(run, '/') + 1);
    for (char *s = *target + 1; *s; s++) {
        if (*s != '/')
            continue;
        *s = '\0';
        int code = make_folder(*target, (size_t)(s - *target) > strlen(raw));
        *s = '/';
        if (code)
            return code;
    }
    return GS_OK;
}

/* No folder from the campaign's down to the run's may be a link: it could lead to any file. */
static int check_links(const struct campaign *c, const char *run)
{
    int code = GS_OK;
    for (size_t n = 0; !code && run[n]; n += run[n] == '/') {
        struct stat s;
        n += strcspn(run + n, "/");
        AUTO_FREE char *path = xstrfmt("%s/%.*s", c->dir, (int)n, run);
        if (!lstat(path, &s) && S_ISLNK(s.st_mode))
            code = fail_at(GS_FAILED, path, 0, "is a link, which is not followed");
    }
    return code;
}

static bool same_plan(const char *a, const char *b)
{
    AUTO_FREE char *pa = xstrfmt("%s/plan.json", a), *pb = xstrfmt("%s/plan.json", b);
    AUTO_TEXT struct text ta = {0}, tb = {0};
    return files_read(pa, FILES_OWN, FILES_WHOLE_MAX, &ta) &&
           files_read(pb, FILES_OWN, FILES_WHOLE_MAX, &tb) && ta.len == tb.len &&
           (!ta.len || !memcmp(ta.s, tb.s, ta.len));
}

/* Replaces an unfinished copy of the same plan, which is removed only after the rename. */
static int put_in_place(const char *temp, const char *target)
{
    AUTO_FREE char *old = xstrfmt("%s.old", temp);
    bool replaces = access(target, F_OK) == 0;
    int code = GS_OK;
    if (replaces && rename(target, old))
        code = cannot(old);
    if (!code && rename(temp, target)) {
        code = cannot(target);
        if (replaces && rename(old, target))
            code = cannot(target);
    } else if (!code && replaces) {
        copy_run_remove(old);
    }
    return code;
}

static int copy_run(struct collected *out, const struct campaign *c, const char *from,
                    const char *target, bool final)
{
    AUTO_FREE char *temp = files_temporary(target);
    int code = mkdir(temp, 0777) ? cannot(temp) : copy_run_folder(from, temp, final, &out->bytes);
    if (!code && !final)
        code = run_mark_collected(temp, c->dir);
    if (!code)
        code = put_in_place(temp, target);
    if (code)
        copy_run_remove(temp);
    return code;
}

static int collect_run(struct collected *out, const struct campaign *c, const struct camp_run *r,
                       bool whole, const char *raw, bool so_far)
{
    AUTO_FREE char *from = campaign_path(c, r->dir), *target = NULL;
    int code = check_links(c, r->dir);
    if (!code)
        code = target_of(raw, r->dir, &target);
    bool there = !code && access(target, F_OK) == 0;
    if (there && !same_plan(from, target)) {
        code = fail_at(GS_FAILED, target, 0,
                       "another run of this name exists; collect to "
                       "another folder with -o");
    } else if (there && run_is_final(target)) {
        code = manifest_verify(target);
        out->there += !code;
    } else if (!code && (whole || so_far)) {
        code = copy_run(out, c, from, target, whole);
        out->copied += !code;
    }
    return code;
}

int collect(struct collected *out, const struct campaign *c, const char *raw, bool so_far)
{
    AUTO(cluster_status_free) struct cluster_status s = {0};
    *out = (struct collected){0};
    int code = cluster_status_read(&s, c, false);
    for (size_t i = 0; !code && i < c->n_runs; i++) {
        bool whole = s.runs[i].complete;
        out->lacking += !whole;
        code = collect_run(out, c, &c->runs[i], whole, raw, so_far);
        if (!whole && !code)
            say("%s on %s: %zu of %zu cells are missing: run %s", c->runs[i].section,
                c->runs[i].platform, s.runs[i].cells[WORK_MISSING], s.runs[i].n_cells,
                so_far ? "copied unfinished" : "left out (--so-far copies it)");
    }
    return code;
}
