/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/collect.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "cluster/cluster_status.h"
#include "record/ledger.h"
#include "record/manifest.h"
#include "record/record.h"
#include "record/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (1 << 20)

static int cannot(const char *path, const char *what)
{
    return fail_file(path, what, errno);
}

/* ---- which files ---- */

static bool is_recorded(const char *name)
{
    int launch, attempt, at = 0;
    bool log = sscanf(name, "launch-%d.%d.log%n", &launch, &attempt, &at) == 2 && at && !name[at];
    return log || !strcmp(name, "config.ini") || !strcmp(name, "plan.json") ||
           record_parse_name(name, &launch, &attempt);
}

/* ---- one file ---- */

/* The file may still grow; a torn last line in the copy is harmless, readers skip it. */
static int pour(int in, int out, const char *from, const char *to)
{
    AUTO_FREE unsigned char *buf = xmalloc(PIECE);
    for (ssize_t n; (n = read(in, buf, PIECE)) != 0;) {
        if (n < 0 && errno != EINTR)
            return cannot(from, "read");
        if (n > 0 && !files_write_all(out, buf, (size_t)n))
            return cannot(to, "written");
    }
    return fsync(out) ? cannot(to, "written") : GS_OK;
}

static int copy_file(const char *from, const char *to, bool final, char hex[65], uint64_t *bytes)
{
    struct stat s = {0};
    AUTO_CLOSE int in = files_open(from, FILES_OWN);
    if (in < 0)
        return fail_at(GS_FAILED, from, 0, "cannot be read: %s", files_why(errno));
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    int code = out < 0 ? cannot(to, "made") : pour(in, out, from, to);
    if (!code && !fstat(out, &s) && final)
        fchmod(out, s.st_mode & 0555);
    if (out >= 0 && close(out) && !code)
        code = cannot(to, "written");
    *bytes = (uint64_t)s.st_size;
    return code ? code : sha256_file(to, hex);
}

/* ---- the folder ---- */

static int copy_one(const char *from, const char *to, const char *name, bool final, json_t *files,
                    uint64_t *bytes)
{
    AUTO_FREE char *source = xstrfmt("%s/%s", from, name), *target = xstrfmt("%s/%s", to, name);
    char hex[65];
    uint64_t size = 0;
    int code = copy_file(source, target, final, hex, &size);
    if (!code)
        json_object_set_new(files, name, manifest_entry(size, hex));
    *bytes += size;
    return code;
}

/* Checks the copy, which is what the manifest vouches for. An error names the original. */
static int check_copy(const char *from, const char *to)
{
    AUTO_FREE char *run_id = ledger_run_id(from);
    char ignored[8];
    struct ledger *l;
    err_capture(ignored, sizeof ignored);
    int code = ledger_read_of(&l, to, run_id);
    err_capture(NULL, 0);
    ledger_free(l);
    if (!code)
        return GS_OK;
    code = ledger_check_final(from);
    return code ? code
                : fail_at(GS_FAILED, from, 0, "changed while it was copied; collect it again");
}

int collect_run_folder(const char *from, const char *to, bool final, uint64_t *bytes)
{
    AUTO_WORDS struct words names = {0};
    if (!files_list(from, "*", &names))
        return cannot(from, "read");
    AUTO_JSON json_t *files = json_object();
    int code = GS_OK;
    for (size_t i = 0; i < names.n && !code; i++)
        if (is_recorded(names.v[i]))
            code = copy_one(from, to, names.v[i], final, files, bytes);
    TRY(code, check_copy(from, to));
    if (!code && final)
        code = manifest_put(to, files);
    return code;
}

/* The user chose `raw`, which may be a link. Below it, links are refused: they may lead
 * elsewhere. */
static int make_folder(const char *path, bool below)
{
    struct stat s;
    if (!mkdir(path, 0777))
        return GS_OK;
    if (errno != EEXIST)
        return cannot(path, "made");
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
        code = cannot(old, "made");
    if (!code && rename(temp, target)) {
        code = cannot(target, "made");
        if (replaces && rename(old, target))
            code = cannot(target, "made");
    } else if (!code && replaces) {
        files_remove_tree(old);
    }
    return code;
}

static int copy_run(struct collected *out, const struct campaign *c, const char *from,
                    const char *target, bool final)
{
    AUTO_FREE char *temp = files_temporary(target);
    int code = mkdir(temp, 0777) ? cannot(temp, "made")
                                 : collect_run_folder(from, temp, final, &out->bytes);
    if (!code && !final)
        code = run_mark_collected(temp, c->dir);
    TRY(code, put_in_place(temp, target));
    if (code)
        files_remove_tree(temp);
    return code;
}

static int collect_run(struct collected *out, const struct campaign *c, const struct camp_run *r,
                       bool whole, const char *raw, bool so_far)
{
    AUTO_FREE char *from = campaign_path(c, r->dir), *target = NULL;
    int code = check_links(c, r->dir);
    TRY(code, target_of(raw, r->dir, &target));
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
