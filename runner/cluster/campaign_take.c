/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies a run that is measured to data/raw. The copy is what is verified, and it is renamed into place
 * when it is whole.
 */
#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "cluster/campaign.h"
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
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (1 << 20)

static int copy_file(const char *from, const char *to, const char *name, json_t *files)
{
    AUTO_FREE char *source = xstrfmt("%s/%s", from, name), *target = xstrfmt("%s/%s", to, name);
    struct stat s = {0};
    char hex[65];
    AUTO_CLOSE int in = files_open(source, FILES_OWN);
    if (in < 0)
        return fail_at(GS_FAILED, source, 0, "cannot be read: %s", files_why(errno));
    AUTO_CLOSE int out = open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (out < 0)
        return fail_file(target, "made", errno);
    /* The old job of a lost node may still append to the file; readers ignore a torn last line. */
    for (ssize_t n = 1; n;)
        if ((n = sendfile(out, in, NULL, PIECE)) < 0 && errno != EINTR)
            return fail_file(target, "written", errno);
    if (fsync(out))
        return fail_file(target, "written", errno);
    if (!fstat(out, &s))
        fchmod(out, s.st_mode & 0555);
    CHECK(sha256_file(target, hex));
    json_object_set_new(files, name, manifest_entry((uint64_t)s.st_size, hex));
    return GS_OK;
}

/* An error names the original. */
static int check_copy(const char *from, const char *to)
{
    AUTO_FREE char *run_id = ledger_run_id(from);
    char ignored[8];
    AUTO(ledger_free_of) struct ledger *l = NULL;
    err_capture(ignored, sizeof ignored);
    int code = ledger_read_of(&l, to, run_id, NULL);
    err_capture(NULL, 0);
    if (!code)
        return GS_OK;
    CHECK(ledger_check_final(from));
    return fail_at(GS_FAILED, from, 0, "changed while it was copied; ask for its status again");
}

static int copy_run(const char *from, const char *to)
{
    AUTO_WORDS struct words names = {0};
    AUTO_JSON json_t *files = json_object();
    if (!files_list(from, "*", &names))
        return fail_file(from, "read", errno);
    for (size_t i = 0; i < names.n; i++) {
        const char *name = names.v[i];
        int launch, attempt, at = 0;
        bool log =
            sscanf(name, "launch-%d.%d.log%n", &launch, &attempt, &at) == 2 && at && !name[at];
        if (log || !strcmp(name, "config.ini") || !strcmp(name, "plan.json") ||
            record_parse_name(name, &launch, &attempt))
            CHECK(copy_file(from, to, name, files));
    }
    CHECK(check_copy(from, to));
    return manifest_put(to, files);
}

/* The user chose `raw`, which may be a link. Below it, links are refused: they may lead elsewhere. */
static int make_folder(const char *path, bool below)
{
    struct stat s;
    if (mkdir(path, 0777) && errno != EEXIST)
        return fail_file(path, "made", errno);
    if (below && !lstat(path, &s) && S_ISLNK(s.st_mode))
        return fail_at(GS_FAILED, path, 0,
                       "is a link, which is not followed; give its target with -o");
    return GS_OK;
}

int campaign_take(const struct camp_run *r, const char *raw, char **target, bool *taken)
{
    const char *name = r->name;
    for (int i = 0; i < 2; i++) /* back to "PLATFORM/WORKLOAD/RUN" */
        for (name--; name[-1] != '/'; name--)
            ;
    *target = xstrfmt("%s/%s", raw, name);
    *taken = false;
    for (char *s = *target + 1; *s; s++)
        if (*s == '/') {
            *s = '\0';
            int code = make_folder(*target, (size_t)(s - *target) > strlen(raw));
            *s = '/';
            if (code)
                return code;
        }
    if (!access(*target, F_OK)) {
        AUTO_FREE char *ours = xstrfmt("%s/plan.json", r->dir),
                       *theirs = xstrfmt("%s/plan.json", *target);
        char hex[65], same[65];
        CHECK(sha256_file(ours, hex));
        CHECK(sha256_file(theirs, same));
        return strcmp(hex, same)
                   ? fail_at(GS_FAILED, *target, 0,
                             "another run of this name exists; choose another folder with -o")
                   : manifest_verify(*target);
    }
    AUTO_FREE char *temp = files_temporary(*target);
    int code = mkdir(temp, 0777) ? fail_file(temp, "made", errno) : copy_run(r->dir, temp);
    if (!code && rename(temp, *target))
        code = fail_file(*target, "made", errno);
    if (code)
        files_remove_tree(temp);
    *taken = !code;
    return code;
}
