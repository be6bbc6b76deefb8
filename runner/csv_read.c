/* SPDX-License-Identifier: Apache-2.0 */
#include "csv_read.h"

#include "err.h"
#include "locate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- rows ---- */

/* One field from s on, its quotes taken off, into fields. Returns what follows it. */
static const char *take_field(struct csv_reader *r, const char *s)
{
    bool quoted = *s == '"';
    r->starts = xrealloc(r->starts, (r->n_starts + 1) * sizeof *r->starts);
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

/* A record: a line, and those after it while a quote is open. False at the end of the file. */
static bool read_record(struct csv_reader *r, struct text *record)
{
    ssize_t n;
    text_clear(record);
    while ((n = getline(&r->line, &r->cap, r->file)) > 0) {
        r->number++;
        text_addn(record, r->line, (size_t)n);
        if (!quotes_are_open(record->s))
            break;
    }
    while (record->len && strchr("\r\n", record->s[record->len - 1]))
        record->s[--record->len] = '\0';
    return record->len > 0;
}

static bool read_fields(struct csv_reader *r)
{
    struct text record = {0};
    bool any = read_record(r, &record);
    text_clear(&r->fields);
    r->n_starts = 0;
    for (const char *s = record.s; any && s;) {
        s = take_field(r, s);
        s = *s == ',' ? s + 1 : NULL;
    }
    text_free(&record);
    return any;
}

int csv_read_row(struct csv_reader *r, bool *got)
{
    *got = read_fields(r);
    if (*got && r->n_starts != r->n_header)
        return fail_at(GS_FAILED, r->path, (int)r->number,
                       "%zu fields under a header of %zu; make the tables anew", r->n_starts,
                       r->n_header);
    return GS_OK;
}

/* ---- the file ---- */

static int find_columns(struct csv_reader *r, const char *const *columns)
{
    for (r->n = 0; columns[r->n]; r->n++) {
        size_t i = 0;
        while (i < r->n_starts && strcmp(r->fields.s + r->starts[i], columns[r->n]))
            i++;
        if (i == r->n_starts)
            return fail_at(GS_USAGE, r->path, 1, "no column '%s'; is it of this version?",
                           columns[r->n]);
        r->columns = xrealloc(r->columns, (r->n + 1) * sizeof *r->columns);
        r->columns[r->n] = i;
    }
    return GS_OK;
}

/* A folder that is none, or a table that is not there yet. */
static int not_there(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir = xstrfmt("%.*s", slash ? (int)(slash - path) : 0, path);
    bool lost = *dir && access(dir, F_OK);
    int code = locate_failed(GS_USAGE, lost ? dir : path, lost ? LOCATE_FILE : LOCATE_TABLE);
    free(dir);
    return code;
}

int csv_read_open(struct csv_reader *r, const char *path, const char *const *columns)
{
    *r = (struct csv_reader){.path = path, .file = fopen(path, "r")};
    if (!r->file)
        return not_there(path);
    if (!read_fields(r)) {
        csv_read_close(r);
        return fail_at(GS_USAGE, path, 0, "empty, where a table with its header belongs");
    }
    r->n_header = r->n_starts;
    int code = find_columns(r, columns);
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
