/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts the parts of reduce_run together, in the order of their keys.
 */
#include "base/csv_params.h"
#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "record/runs.h"
#include "reduce/reduce.h"
#include "reduce/tables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- tables ---- */

static void copy_rest(FILE *in, struct csv *out)
{
    char buf[65536];
    for (size_t n; (n = fread(buf, 1, sizeof buf, in)) > 0;)
        csv_bytes(out, buf, n);
}

static int other_version(const char *path)
{
    return fail_at(
        GS_FAILED, path, 1,
        "has the columns of another version; repeat 'gradsync reduce --run' for this run");
}

/* Adds a table that has these columns, byte for byte. */
static int copy_rows(const char *path, const char *columns, struct csv *out)
{
    FILE *in = files_stream(path, FILES_ANY);
    int code = GS_OK;
    if (!in)
        return fail_at(GS_FAILED, path, 0, "cannot be read: %s", files_why(errno));
    for (const char *s = columns; *s && !code; s++)
        code = getc(in) == (unsigned char)*s ? GS_OK : other_version(path);
    if (!code)
        code = getc(in) == '\n' ? GS_OK : other_version(path);
    if (!code)
        copy_rest(in, out);
    if (ferror(in) && !code)
        code = fail_at(GS_FAILED, path, 0, "cannot be read: %s", strerror(errno));
    fclose(in);
    return code;
}

/* Adds a table whose parameters are columns: other parts may have other parameters. */
static int add_rows(const char *path, const struct words *columns, struct csv *out)
{
    AUTO(csv_read_close) struct csv_reader r = {0};
    bool got = true;
    int code = csv_read_open(&r, path, (const char *const *)columns->v);
    if (code)
        return code;
    if (r.n_header != columns->n)
        code = other_version(path);
    while (!code && !(code = csv_read_row(&r, &got)) && got) {
        for (size_t i = 0; i < columns->n; i++)
            csv_text(out, csv_read_text(&r, i));
        csv_end(out);
    }
    return code;
}

static int add_table(const char *part, const char *name, const char *columns, struct csv *out)
{
    AUTO_FREE char *path = xstrfmt("%s/%s", part, name);
    AUTO_WORDS struct words names = {0};
    words_split(&names, columns, ',');
    return out->last_pass ? add_rows(path, &names, out) : copy_rows(path, columns, out);
}

/* ---- tables of other verbs ---- */

static char *columns_of(const char *path)
{
    static const char *const none[] = {NULL};
    AUTO(csv_read_close) struct csv_reader r = {0};
    struct text t = {0};
    if (csv_read_open(&r, path, none))
        return NULL;
    for (size_t i = 0; i < r.n_header; i++)
        text_addf(&t, "%s%s", i ? "," : "", r.fields.s + r.starts[i]);
    return t.s;
}

static int merge_other(const struct runs *parts, const char *name, const char *out)
{
    struct csv csv;
    AUTO_FREE char *first = xstrfmt("%s/%s", parts->v[0].dir, name),
                   *path = xstrfmt("%s/%s", out, name), *columns = columns_of(first);
    int code = columns ? csv_open(&csv, path) : GS_FAILED;
    if (code)
        return code;
    csv_params_header(&csv, columns);
    for (size_t i = 0; i < parts->n && !code; i++)
        code = add_table(parts->v[i].dir, name, columns, &csv);
    int closed = csv_close(&csv, !code);
    return code ? code : closed;
}

/* The tables that the parts have beside those of this verb: `gradsync compare -o PART`. */
static int merge_others(const struct runs *parts, const char *out)
{
    AUTO_WORDS struct words tables = {0};
    int code = GS_OK;
    if (parts->n)
        files_list(parts->v[0].dir, "*.csv", &tables);
    for (size_t i = 0; i < tables.n && !code; i++) {
        bool other = true;
        for (int t = 0; t < TABLES && other; t++)
            other = strcmp(tables.v[i], table_names[t]) != 0;
        code = other ? merge_other(parts, tables.v[i], out) : GS_OK;
    }
    return code;
}

/* ---- classic files ---- */

static int copy_file(const char *from, const char *to)
{
    AUTO_FCLOSE FILE *in = files_stream(from, FILES_ANY);
    if (!in)
        return fail_at(GS_FAILED, from, 0, "cannot be read: %s", files_why(errno));
    struct csv out;
    int code = csv_open(&out, to);
    if (code)
        return code;
    copy_rest(in, &out);
    bool whole = !ferror(in);
    if (!whole)
        code = fail_at(GS_FAILED, from, 0, "cannot be read: %s", strerror(errno));
    int closed = csv_close(&out, whole);
    return code ? code : closed;
}

/* Copies all files below a folder, which may be missing. */
static int copy_tree(const char *from, const char *to)
{
    AUTO_WORDS struct words names = {0};
    int code = GS_OK;
    if (!files_list(from, "*", &names))
        return errno == ENOENT ? GS_OK
                               : fail_at(GS_FAILED, from, 0, "cannot be read: %s", strerror(errno));
    for (size_t i = 0; i < names.n && !code; i++) {
        AUTO_FREE char *source = xstrfmt("%s/%s", from, names.v[i]),
                       *target = xstrfmt("%s/%s", to, names.v[i]);
        code = files_is_folder(source) ? copy_tree(source, target) : copy_file(source, target);
    }
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
        code = add_table(part, table_names[t], table_columns[t], &tables->csv[t]);
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
    code = code ? code : closed;
    code = code ? code : merge_others(&parts, out);
    runs_free(&parts);
    return code;
}
