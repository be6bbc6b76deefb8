/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts the parts of reduce_run together, in the order of their keys.
 */
#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "record/runs.h"
#include "reduce/reduce.h"
#include "reduce/tables.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- tables ---- */

static void copy_rest(FILE *in, struct csv *out)
{
    char buf[65536];
    for (size_t n; (n = fread(buf, 1, sizeof buf, in)) > 0;)
        csv_bytes(out, buf, n);
}

/* Skips the header line; false: it is not the header of this version. */
static bool skip_header(FILE *in, const char *columns)
{
    for (const char *s = columns; *s; s++)
        if (getc(in) != (unsigned char)*s)
            return false;
    return getc(in) == '\n';
}

static int add_table(const char *part, enum table table, struct csv *out)
{
    AUTO_FREE char *path = xstrfmt("%s/%s", part, table_names[table]);
    FILE *in = files_stream(path, FILES_ANY);
    int code = GS_OK;
    if (!in)
        code = fail_at(GS_FAILED, path, 0, "cannot be read: %s", files_why(errno));
    else if (!skip_header(in, table_columns[table]))
        code = fail_at(
            GS_FAILED, path, 1,
            "has the columns of another version; repeat 'gradsync reduce --run' for this run");
    else
        copy_rest(in, out);
    if (in && ferror(in) && !code)
        code = fail_at(GS_FAILED, path, 0, "cannot be read: %s", strerror(errno));
    if (in)
        fclose(in);
    return code;
}

/* ---- classic files ---- */

static int copy_file(const char *from, const char *to)
{
    FILE *in = files_stream(from, FILES_ANY);
    if (!in)
        return fail_at(GS_FAILED, from, 0, "cannot be read: %s", files_why(errno));
    struct csv out;
    int code = csv_open(&out, to);
    if (!code) {
        copy_rest(in, &out);
        bool whole = !ferror(in);
        if (!whole)
            code = fail_at(GS_FAILED, from, 0, "cannot be read: %s", strerror(errno));
        int closed = csv_close(&out, whole);
        code = code ? code : closed;
    }
    fclose(in);
    return code;
}

/* Copies all files below a folder, which may be missing. */
static int copy_tree(const char *from, const char *to)
{
    DIR *d = opendir(from);
    int code = GS_OK;
    if (!d)
        return errno == ENOENT ? GS_OK
                               : fail_at(GS_FAILED, from, 0, "cannot be read: %s", strerror(errno));
    for (struct dirent *e; !code && (e = readdir(d));) {
        struct stat st;
        if (e->d_name[0] == '.')
            continue;
        AUTO_FREE char *source = xstrfmt("%s/%s", from, e->d_name),
                       *target = xstrfmt("%s/%s", to, e->d_name);
        bool folder = !stat(source, &st) && S_ISDIR(st.st_mode);
        code = folder ? copy_tree(source, target) : copy_file(source, target);
    }
    closedir(d);
    return code;
}

/* ---- parts ---- */

static int find_parts(struct runs *parts, const char *const *dirs, size_t n)
{
    int code = GS_OK;
    for (size_t i = 0; i < n; i++) {
        AUTO_TEXT struct text key = {0};
        AUTO_FREE char *path = xstrfmt("%s/%s", dirs[i], REDUCE_KEY);
        if (files_read(path, FILES_ANY, FILES_WHOLE_MAX, &key)) {
            ALLOC_MORE(parts->v, parts->n);
            parts->v[parts->n++] =
                (struct run_folder){.dir = xstrdup(dirs[i]), .key = xstrdup(key.s)};
        } else {
            code = fail_at(GS_USAGE, dirs[i], 0,
                           "not a part: the file '%s' is missing; 'gradsync reduce --run RUN -o "
                           "%s' makes a part",
                           REDUCE_KEY, dirs[i]);
        }
    }
    return code;
}

static int add_part(struct tables *tables, const char *part, const char *out)
{
    int code = GS_OK;
    for (int t = 0; t < TABLES && !code; t++)
        code = add_table(part, (enum table)t, &tables->csv[t]);
    AUTO_FREE char *from = xstrfmt("%s/classic", part), *to = xstrfmt("%s/classic", out);
    return code ? code : copy_tree(from, to);
}

int reduce_merge(const char *const *dirs, size_t n, const char *out)
{
    struct runs parts = {0};
    struct tables tables;
    int code = find_parts(&parts, dirs, n);
    if (!code)
        code = runs_sort(&parts);
    if (!code)
        code = tables_open(&tables, out);
    if (code) {
        runs_free(&parts);
        return code;
    }
    for (size_t i = 0; i < parts.n && !code; i++)
        code = add_part(&tables, parts.v[i].dir, out);
    int closed = tables_close(&tables, !code);
    runs_free(&parts);
    return code ? code : closed;
}
