/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_read.h"

#include "base/err.h"
#include "base/files.h"
#include "base/locate.h"
#include "base/printable.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- rows ---- */

/* One field from s on, its quotes taken off, into fields. Returns what follows it. */
static const char *take_field(struct csv_reader *r, const char *s)
{
    bool quoted = *s == '"';
    ALLOC_MORE(r->starts, r->n_starts);
    r->starts[r->n_starts++] = r->fields.len;
    s += quoted;
    while (*s && (quoted || *s != ',')) {
        if (quoted && *s == '"') {
            if (s[1] != '"')
                break;
            s++;
        }
        text_addn(&r->fields, s++, 1);
    }
    if (quoted && *s == '"')
        s++;
    text_addn(&r->fields, "", 1);
    return s;
}

static bool quotes_are_open(const char *s)
{
    bool open = false;
    for (; *s; s++)
        open ^= *s == '"';
    return open;
}

static void trim_newline(struct text *t)
{
    while (t->len && strchr("\r\n", t->s[t->len - 1]))
        t->s[--t->len] = '\0';
}

/* A record: a line, and those after it while a quote is open. Empty lines are no records. It is
 * empty at the end of the file. GS_OK or GS_FAILED, reported. */
static int read_record(struct csv_reader *r, struct text *record)
{
    long first = 0;
    ssize_t n;
    text_clear(record);
    errno = 0;
    while ((n = getline(&r->line, &r->cap, r->file)) > 0) {
        r->number++;
        first = record->len ? first : r->number;
        text_addn(record, r->line, (size_t)n);
        if (quotes_are_open(record->s))
            continue;
        trim_newline(record);
        if (strlen(record->s) < record->len || !printable(record->s, ""))
            return fail_at(GS_FAILED, r->path, (int)first,
                           "damaged: not printable text; make the tables again");
        if (record->len)
            return GS_OK;
    }
    if (ferror(r->file))
        return fail_file(r->path, "read", errno);
    if (record->len)
        return fail_at(GS_FAILED, r->path, (int)first,
                       "damaged: a quote is not closed; make the tables again");
    return GS_OK;
}

static int read_fields(struct csv_reader *r, bool *got)
{
    AUTO_TEXT struct text record = {0};
    int code = read_record(r, &record);
    *got = !code && record.len > 0;
    text_clear(&r->fields);
    r->n_starts = 0;
    for (const char *s = record.s; *got && s;) {
        s = take_field(r, s);
        if (*s && *s != ',') {
            code = fail_at(GS_FAILED, r->path, (int)r->number,
                           "damaged: text after a closing quote; make the tables again");
            *got = false;
        }
        s = *s == ',' ? s + 1 : NULL;
    }
    return code;
}

/* The fields of the parameters become one, "size=8 gemms=4". */
static void fold_params(struct csv_reader *r)
{
    AUTO_TEXT struct text all = {0};
    size_t first = r->n_header - 1;
    text_clear(&all);
    for (size_t i = 0; i < r->params.n; i++) {
        const char *value = r->fields.s + r->starts[first + i];
        if (*value)
            text_addf(&all, "%s%s=%s", all.len ? " " : "", r->params.v[i], value);
    }
    r->starts[first] = r->fields.len;
    r->n_starts = r->n_header;
    text_addn(&r->fields, all.s, all.len + 1);
}

int csv_read_row(struct csv_reader *r, bool *got)
{
    int code = read_fields(r, got);
    size_t expected = r->n_header - (r->params.n > 0) + r->params.n;
    if (*got && r->n_starts != expected)
        return fail_at(GS_FAILED, r->path, (int)r->number,
                       "%zu fields under a header of %zu; make the tables again", r->n_starts,
                       expected);
    if (*got && r->params.n)
        fold_params(r);
    return code;
}

/* ---- the file ---- */

/* The last columns are those of parameters. */
static void find_params(struct csv_reader *r)
{
    size_t first = r->n_starts, n = strlen(CSV_PARAM);
    while (first && !strncmp(r->fields.s + r->starts[first - 1], CSV_PARAM, n))
        first--;
    for (size_t i = first; i < r->n_starts; i++)
        words_add(&r->params, r->fields.s + r->starts[i] + n);
    if (r->params.n) {
        r->n_starts = first + 1;
        r->starts[first] = r->fields.len;
        text_addn(&r->fields, CSV_PARAMS, sizeof CSV_PARAMS);
    }
    r->n_header = r->n_starts;
}

static int find_columns(struct csv_reader *r, const char *const *columns)
{
    for (r->n = 0; columns[r->n]; r->n++) {
        size_t i = 0;
        while (i < r->n_starts && strcmp(r->fields.s + r->starts[i], columns[r->n]))
            i++;
        if (i == r->n_starts)
            return fail_at(GS_USAGE, r->path, 1,
                           "no column '%s'; was the table made by this version?", columns[r->n]);
        ALLOC_MORE(r->columns, r->n);
        r->columns[r->n] = i;
    }
    return GS_OK;
}

/* A folder that is none, or a table that is not there yet. */
static int not_there(const char *path)
{
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *dir = xstrfmt("%.*s", slash ? (int)(slash - path) : 0, path);
    bool lost = *dir && access(dir, F_OK);
    return locate_failed(GS_USAGE, lost ? dir : path, LOCATE_TABLE);
}

int csv_read_open(struct csv_reader *r, const char *path, const char *const *columns)
{
    *r = (struct csv_reader){.path = path, .file = files_stream(path, FILES_ANY)};
    if (!r->file && errno == EMEDIUMTYPE)
        return fail_at(GS_USAGE, path, 0, "cannot be read: %s", files_why(errno));
    if (!r->file)
        return not_there(path);
    bool got;
    int code = read_fields(r, &got);
    if (!code && !got)
        code = fail_at(GS_USAGE, path, 0, "empty; a table begins with a header");
    find_params(r);
    if (!code)
        code = find_columns(r, columns);
    if (code)
        csv_read_close(r);
    return code;
}

void csv_read_close(struct csv_reader *r)
{
    if (r->file)
        fclose(r->file);
    free(r->line);
    free(r->starts);
    free(r->columns);
    words_free(&r->params);
    text_free(&r->fields);
    *r = (struct csv_reader){0};
}

int csv_read_each(const char *path, const char *const *columns,
                  void (*take)(void *ctx, const struct csv_reader *r), void *ctx)
{
    struct csv_reader r;
    bool got = true;
    int code = csv_read_open(&r, path, columns);
    if (code)
        return code;
    while (!(code = csv_read_row(&r, &got)) && got)
        take(ctx, &r);
    csv_read_close(&r);
    return code;
}

/* ---- fields ---- */

const char *csv_read_text(const struct csv_reader *r, size_t column)
{
    return r->fields.s + r->starts[r->columns[column]];
}

double csv_read_real(const struct csv_reader *r, size_t column)
{
    char *end;
    const char *s = csv_read_text(r, column);
    double v = strtod(s, &end);
    return *s && !*end ? v : (double)NAN;
}

int64_t csv_read_integer(const struct csv_reader *r, size_t column)
{
    return strtoll(csv_read_text(r, column), NULL, 10);
}
