/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/copy_run.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/sha256.h"
#include "base/text.h"
#include "record/check_run.h"
#include "record/ledger.h"
#include "record/manifest.h"
#include "record/record.h"

#include <dirent.h>
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

static bool is_log(const char *name)
{
    int launch, attempt, at = 0;
    return sscanf(name, "launch-%d.%d.log%n", &launch, &attempt, &at) == 2 && at && !name[at];
}

static bool is_recorded(const char *name)
{
    int launch, attempt;
    return !strcmp(name, "config.ini") || !strcmp(name, "plan.json") || is_log(name) ||
           record_parse_name(name, &launch, &attempt);
}

/* ---- one file ---- */

/* The file may still grow; a torn last line in the copy is harmless, readers skip it. */
static int pour(int in, int out, const char *from, const char *to, char hex[65], uint64_t *bytes)
{
    AUTO_FREE unsigned char *buf = xmalloc(PIECE);
    struct sha256 *hash = sha256_begin();
    uint64_t total = 0;
    ssize_t n;
    int code = GS_OK;
    while (!code && (n = read(in, buf, PIECE)) != 0) {
        if (n < 0) {
            code = errno == EINTR ? GS_OK : cannot(from, "read");
            continue;
        }
        sha256_add(hash, buf, (size_t)n);
        total += (uint64_t)n;
        if (!files_write_all(out, buf, (size_t)n))
            code = cannot(to, "written");
    }
    sha256_end(hash, hex);
    *bytes = total;
    return code;
}

static int copy_file(const char *from, const char *to, bool final, char hex[65], uint64_t *bytes)
{
    struct stat s;
    int in = files_open(from, FILES_OWN);
    if (in < 0)
        return fail_at(GS_FAILED, from, 0, "cannot be read: %s", files_why(errno));
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    int code = out < 0 ? cannot(to, "made") : pour(in, out, from, to, hex, bytes);
    if (!code && fsync(out))
        code = cannot(to, "written");
    if (!code && final && !fstat(out, &s))
        fchmod(out, s.st_mode & 0555);
    if (out >= 0 && close(out) && !code)
        code = cannot(to, "written");
    close(in);
    return code;
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
        json_object_set_new(files, name, manifest_entry(target, size, hex));
    *bytes += size;
    return code;
}

/* Checks the copy, which is what the manifest vouches for. An error names the original. */
static int check_copy(const char *from, const char *to)
{
    AUTO_FREE char *run_id = check_run_id(from);
    char ignored[8];
    struct ledger *l;
    err_capture(ignored, sizeof ignored);
    int code = ledger_read_of(&l, to, run_id);
    err_capture(NULL, 0);
    ledger_free(l);
    if (!code)
        return GS_OK;
    code = check_before_final(from);
    return code ? code
                : fail_at(GS_FAILED, from, 0, "changed while it was copied; collect it again");
}

int copy_run_folder(const char *from, const char *to, bool final, uint64_t *bytes)
{
    AUTO_WORDS struct words names = {0};
    if (!files_list(from, "*", &names))
        return cannot(from, "read");
    AUTO_JSON json_t *files = json_object();
    int code = GS_OK;
    for (size_t i = 0; i < names.n && !code; i++)
        if (is_recorded(names.v[i]))
            code = copy_one(from, to, names.v[i], final, files, bytes);
    if (!code)
        code = check_copy(from, to);
    if (!code && final)
        code = manifest_put(to, files);
    return code;
}

void copy_run_remove(const char *dir)
{
    DIR *d = opendir(dir);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(dir);
}
