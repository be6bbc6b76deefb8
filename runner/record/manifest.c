/* SPDX-License-Identifier: Apache-2.0 */
#include "record/manifest.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "config/config.h"
#include "record/ledger.h"
#include "record/record.h"
#include "record/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a run folder's files ---- */

/* The names in the folder, sorted. GS_OK or GS_FAILED, reported. */
static int list(const char *dir, struct words *names)
{
    AUTO_WORDS struct words all = {0};
    if (!files_list(dir, NULL, &all))
        return fail_at(GS_FAILED, dir, 0, "cannot be read: %s", strerror(errno));
    for (size_t i = 0; i < all.n; i++)
        if (strcmp(all.v[i], RECORD_MANIFEST) != 0)
            words_add(names, all.v[i]);
    return GS_OK;
}

json_t *manifest_entry(uint64_t bytes, const char *sha256)
{
    return json_pack("{s:I, s:s}", "bytes", (json_int_t)bytes, "sha256", sha256);
}

static int describe_file(const char *path, json_t **out)
{
    struct stat st;
    char hex[65];
    if (lstat(path, &st))
        return fail_file(path, "read", errno);
    if (!S_ISREG(st.st_mode))
        return fail_at(GS_FAILED, path, 0, "is not a regular file; move it out of the run folder");
    int code = sha256_file(path, hex);
    if (!code)
        *out = manifest_entry((uint64_t)st.st_size, hex);
    return code;
}

/* ---- writing ---- */

int manifest_put(const char *dir, json_t *files)
{
    AUTO_JSON json_t *root = json_pack("{s:i, s:O}", "schema", RECORD_SCHEMA, "files", files);
    AUTO_FREE char *text = json_dumps(root, JSON_INDENT(1)), *line = xstrfmt("%s\n", text),
                   *path = xstrfmt("%s/%s", dir, RECORD_MANIFEST);
    return files_replace(path, line, 0444)
               ? GS_OK
               : fail_at(GS_FAILED, path, 0,
                         "cannot be written: %s; the recordings are complete; finish the run "
                         "with gradsync resume",
                         strerror(errno));
}

/* Checked after it was hashed: what is altered from then on differs from the hash. */
int manifest_write(const char *dir)
{
    /* What a killed process left of the manifest would be listed in it. */
    AUTO_FREE char *manifest = xstrfmt("%s/%s", dir, RECORD_MANIFEST);
    free(files_temporary(manifest));
    AUTO_WORDS struct words names = {0};
    AUTO_JSON json_t *files = json_object();
    int code = list(dir, &names);
    for (size_t i = 0; i < names.n && !code; i++) {
        json_t *entry = NULL;
        AUTO_FREE char *path = xstrfmt("%s/%s", dir, names.v[i]);
        code = describe_file(path, &entry);
        if (entry)
            json_object_set_new(files, names.v[i], entry);
    }
    TRY(code, ledger_check_final(dir));
    for (size_t i = 0; i < names.n && !code; i++) {
        /* Removes write permission and grants no other; never of what a link points to. */
        struct stat st;
        AUTO_FREE char *path = xstrfmt("%s/%s", dir, names.v[i]);
        AUTO_CLOSE int fd = files_open(path, FILES_OWN);
        if (fd >= 0 && !fstat(fd, &st))
            fchmod(fd, st.st_mode & 0555);
    }
    return code ? code : manifest_put(dir, files);
}

/* ---- verifying ---- */

static int verify_file(const char *path, json_t *entry)
{
    struct stat st;
    json_int_t bytes = json_integer_value(json_object_get(entry, "bytes"));
    const char *sha256 = json_string_value(json_object_get(entry, "sha256"));
    if (lstat(path, &st))
        return fail_at(GS_FAILED, path, 0,
                       "missing, but " RECORD_MANIFEST " lists it; restore the file");
    if (!S_ISREG(st.st_mode))
        return fail_at(GS_FAILED, path, 0, "is not a regular file; restore the file");
    if (st.st_size < bytes)
        return fail_at(GS_FAILED, path, 0,
                       "truncated: %lld of the %lld bytes recorded; restore the file",
                       (long long)st.st_size, (long long)bytes);
    char hex[65];
    int launch, attempt;
    bool same = sha256 && st.st_size == bytes;
    int code = !same                                                   ? GS_OK
               : record_parse_name(path_name(path), &launch, &attempt) ? raw_sha256(path, hex)
                                                                       : sha256_file(path, hex);
    if (!code && (!same || strcmp(hex, sha256)))
        code = fail_at(GS_FAILED, path, 0,
                       "edited since the run was completed: its SHA-256 is not the "
                       "one in " RECORD_MANIFEST "; restore the file");
    return code;
}

static int verify_listed(const char *dir, json_t *files)
{
    int code = GS_OK;
    const char *name;
    json_t *entry;
    json_object_foreach(files, name, entry)
    {
        AUTO_FREE char *path = xstrfmt("%s/%s", dir, name);
        int one = strchr(name, '/') ? fail_at(GS_FAILED, dir, 0,
                                              RECORD_MANIFEST " lists '%s', not a file name", name)
                                    : verify_file(path, entry);
        code = one ? one : code;
    }
    return code;
}

static int verify_foreign(const char *dir, json_t *files)
{
    AUTO_WORDS struct words names = {0};
    int code = list(dir, &names);
    for (size_t i = 0; i < names.n; i++)
        if (!json_object_get(files, names.v[i])) {
            AUTO_FREE char *path = xstrfmt("%s/%s", dir, names.v[i]);
            code = fail_at(GS_FAILED, path, 0, "foreign: " RECORD_MANIFEST " does not list it");
        }
    return code;
}

/* The member "files" of *root (borrowed); NULL: reported. */
static json_t *load(const char *dir, json_t **root)
{
    AUTO_FREE char *path = xstrfmt("%s/%s", dir, RECORD_MANIFEST);
    int code = json_names_load(root, path);
    json_t *files = json_object_get(*root, "files");
    AUTO_FREE char *how = !code && !*root ? run_how_completed(dir) : NULL;
    if (how)
        fail_at(GS_FAILED, dir, 0,
                "no " RECORD_MANIFEST ": the run was interrupted, or the file was lost; %s", how);
    else if (!code && !json_is_object(files))
        fail_at(GS_FAILED, path, 0, "damaged: no object 'files'");
    if (!json_is_object(files))
        return NULL;
    json_t *schema = json_object_get(*root, "schema");
    if (json_is_integer(schema) && json_integer_value(schema) >= 1 &&
        json_integer_value(schema) <= RECORD_SCHEMA)
        return files;
    fail_at(GS_FAILED, path, 0,
            "its schema is not one of 1 to %d, which this gradsync reads; update gradsync, or "
            "restore the file",
            RECORD_SCHEMA);
    return NULL;
}

int manifest_verify(const char *dir)
{
    AUTO_JSON json_t *root = NULL;
    json_t *files = load(dir, &root); /* borrowed */
    if (!files)
        return GS_FAILED;
    int code = verify_listed(dir, files), foreign = verify_foreign(dir, files);
    return foreign ? foreign : code;
}

int manifest_verify_file(const char *dir, const char *name)
{
    AUTO_JSON json_t *root = NULL;
    json_t *files = load(dir, &root), *entry = json_object_get(files, name); /* borrowed */
    AUTO_FREE char *path = xstrfmt("%s/%s", dir, name);
    if (!files)
        return GS_FAILED;
    if (entry)
        return verify_file(path, entry);
    return access(path, F_OK)
               ? GS_OK
               : fail_at(GS_FAILED, path, 0, "foreign: " RECORD_MANIFEST " does not list it");
}
