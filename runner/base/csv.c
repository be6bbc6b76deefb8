/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "base/units.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The rows of a table with CSV_PARAMS, until all keys are known. */
struct csv_spread {
    size_t column, at;   /* of CSV_PARAMS; of the next field of the row */
    struct text rows;    /* without CSV_PARAMS; each ends with a NUL, the first is the header */
    struct words params; /* the CSV_PARAMS of each row */
    struct words keys;   /* in the order of their columns */
};

/* ---- files ---- */

#define BUFFER ((size_t)64 << 10) /* of 4 KiB, writes are a sixth of the time of a long table */

static int cannot_write(const struct csv *c, int error)
{
    return fail_file(c->path, "written", error);
}

int csv_open(struct csv *c, const char *path)
{
    struct stat st;
    /* The rename would put a file in the place of a device or a pipe. */
    if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
        *c = (struct csv){0};
        return fail_at(GS_FAILED, path, 0, "cannot be written: not a regular file");
    }
    *c = (struct csv){.path = xstrdup(path)};
    c->temp = files_temporary(path);
    free(files_make_above(path)); /* one that cannot be made is found by the open that follows */
    c->file = fopen(c->temp, "we");
    if (c->file) {
        c->buffer = xmalloc(BUFFER);
        setvbuf(c->file, c->buffer, _IOFBF, BUFFER);
        return GS_OK;
    }
    int code = cannot_write(c, errno);
    free(c->path);
    free(c->temp);
    *c = (struct csv){0};
    return code;
}

void csv_bytes(struct csv *c, const char *s, size_t n)
{
    assert(c->file); /* open */
    if (c->spread)
        text_addn(&c->spread->rows, s, n);
    else if (fwrite(s, 1, n, c->file) < n && !c->error)
        c->error = errno;
}

/* ---- fields ---- */

void csv_field(struct text *t, const char *s)
{
    if (!s[strcspn(s, ",\"\r\n")]) {
        text_add(t, s);
        return;
    }
    text_add(t, "\"");
    for (const char *q; (q = strchr(s, '"')); s = q + 1) {
        text_addn(t, s, (size_t)(q + 1 - s));
        text_add(t, "\"");
    }
    text_add(t, s);
    text_add(t, "\"");
}

static void put(struct csv *c, const char *s)
{
    if (c->in_row)
        csv_bytes(c, ",", 1);
    c->in_row = true;
    if (c->spread)
        c->spread->at++;
    csv_bytes(c, s, strlen(s));
}

void csv_text(struct csv *c, const char *s)
{
    if (c->sink) {
        c->sink->text(c->sink->ctx, s);
        return;
    }
    if (c->spread && c->spread->at == c->spread->column) {
        words_add(&c->spread->params, s);
        c->spread->at++;
        return;
    }
    if (!s[strcspn(s, ",\"\r\n")]) {
        put(c, s);
        return;
    }
    AUTO_TEXT struct text t = {0};
    csv_field(&t, s);
    put(c, t.s);
}

void csv_integer(struct csv *c, int64_t v)
{
    char buf[24];
    if (c->sink) {
        c->sink->integer(c->sink->ctx, v);
        return;
    }
    snprintf(buf, sizeof buf, "%" PRId64, v);
    put(c, buf);
}

void csv_real(struct csv *c, double v)
{
    char buf[32];
    if (c->sink) {
        c->sink->real(c->sink->ctx, v);
        return;
    }
    snprintf(buf, sizeof buf, "%.12g", v);
    put(c, isfinite(v) ? units_double(buf, sizeof buf, strtod(buf, NULL)) : "");
}

void csv_texts(struct csv *c, const char *const *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        csv_text(c, fields[i]);
}

void csv_integers(struct csv *c, const int64_t *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        csv_integer(c, fields[i]);
}

void csv_reals(struct csv *c, const double *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        csv_real(c, fields[i]);
}

void csv_end(struct csv *c)
{
    if (c->sink) {
        c->sink->end(c->sink->ctx);
        return;
    }
    csv_bytes(c, c->spread ? "" : "\n", 1);
    c->in_row = false;
    if (c->spread)
        c->spread->at = 0;
}

void csv_decimal(char buf[CSV_DECIMAL], uint64_t time_ns, uint64_t iters)
{
    uint64_t ns = time_ns / iters, fs = (time_ns % iters * 1000000 + iters / 2) / iters,
             unit = 1000000000;
    ns += fs / 1000000;
    /* A 1 in front of the fraction keeps its zeros; the point takes its place. */
    char *point = text_digits(buf, ns / unit),
         *end = text_digits(point, (unit + ns % unit) * 1000000 + fs % 1000000);
    *point = '.';
    while (end[-1] == '0')
        end--;
    end -= end[-1] == '.';
    *end = '\0';
}

/* ---- parameters ---- */

/* Its keys and values, without empty values. A word without '=' belongs to the value before it. */
static void split_params(const char *text, struct words *keys, struct words *values)
{
    AUTO_WORDS struct words w = {0};
    words_split(&w, text, ' ');
    for (size_t i = 0; i < w.n; i++) {
        const char *word = w.v[i];
        size_t n = strcspn(word, "=");
        AUTO_TEXT struct text value = {0};
        text_add(&value, word + n + (word[n] == '='));
        for (; i + 1 < w.n && !strchr(w.v[i + 1], '='); i++)
            text_addf(&value, " %s", w.v[i + 1]);
        if (!value.len || !n)
            continue;
        words_addf(keys, "%.*s", (int)n, word);
        words_add(values, value.s);
    }
}

/* Adds the keys of a text that are new, each behind the one before it. */
static void add_keys(struct words *all, const char *text)
{
    AUTO_WORDS struct words keys = {0}, values = {0};
    size_t next = 0;
    split_params(text, &keys, &values);
    for (size_t i = 0; i < keys.n; i++) {
        size_t at = words_find(all, keys.v[i]);
        if (at == all->n) {
            words_add(all, keys.v[i]);
            char *key = all->v[at];
            memmove(all->v + next + 1, all->v + next, (at - next) * sizeof *all->v);
            all->v[at = next] = key;
        }
        next = at + 1;
    }
}

/* ",8,4" */
static void set_fields(struct text *t, const struct csv_spread *s, const char *params)
{
    AUTO_WORDS struct words keys = {0}, values = {0};
    split_params(params, &keys, &values);
    text_clear(t);
    for (size_t i = 0; i < s->keys.n; i++) {
        size_t at = words_find(&keys, s->keys.v[i]);
        text_add(t, ",");
        csv_field(t, at < keys.n ? values.v[at] : "");
    }
    if (!s->keys.n)
        text_add(t, ",");
}

static void spread_free(struct csv *c)
{
    if (!c->spread)
        return;
    text_free(&c->spread->rows);
    words_free(&c->spread->params);
    words_free(&c->spread->keys);
    free(c->spread);
    c->spread = NULL;
}

static void write_spread(struct csv *c)
{
    struct csv_spread *s = c->spread;
    AUTO_TEXT struct text fields = {0};
    const char *row = s->rows.s, *before = "";
    for (size_t i = 1; i < s->params.n; before = s->params.v[i++])
        if (strcmp(s->params.v[i], before))
            add_keys(&s->keys, s->params.v[i]);
    for (size_t i = 0; i < s->keys.n; i++)
        text_addf(&fields, "," CSV_PARAM "%s", s->keys.v[i]);
    if (!s->keys.n)
        text_add(&fields, "," CSV_PARAM CSV_PARAM_ANY);
    c->spread = NULL;
    for (size_t i = 0; i < s->params.n; i++, row += strlen(row) + 1) {
        if (i && (i == 1 || strcmp(s->params.v[i], s->params.v[i - 1])))
            set_fields(&fields, s, s->params.v[i]);
        csv_bytes(c, row, strlen(row));
        csv_bytes(c, fields.s, fields.len);
        csv_end(c);
    }
    c->spread = s;
    spread_free(c);
}

void csv_header(struct csv *c, const char *columns)
{
    AUTO_WORDS struct words names = {0};
    words_split(&names, columns, ',');
    size_t column = words_find(&names, CSV_PARAMS);
    if (column < names.n) {
        c->spread = xcalloc(1, sizeof *c->spread);
        c->spread->column = column;
    }
    csv_texts(c, (const char *const *)names.v, names.n);
    csv_end(c);
}

/* ---- a complete file ---- */

int csv_finish(struct csv *c)
{
    if (c->spread)
        write_spread(c);
    if (fflush(c->file) && !c->error)
        c->error = errno;
    return c->error ? cannot_write(c, c->error) : GS_OK;
}

int csv_close(struct csv *c, bool keep)
{
    if (!c->path)
        return GS_OK;
    int code = keep ? csv_finish(c) : GS_OK;
    int error = fclose(c->file) || (keep && !code && rename(c->temp, c->path)) ? errno : 0;
    if (keep && !code && error)
        code = cannot_write(c, error);
    if (!keep || code)
        unlink(c->temp);
    spread_free(c);
    free(c->path);
    free(c->buffer);
    free(c->temp);
    *c = (struct csv){0};
    return code;
}

/* ---- reading ---- */

static int damaged(const struct csv_reader *r, const char *what)
{
    return fail_at(GS_FAILED, r->path, (int)r->number, "damaged: %s; make the tables again", what);
}

/* The fields of the next record, without their quotes; none at the end of the file. Empty lines are no
 * records, and a field has no line break. */
static int read_fields(struct csv_reader *r)
{
    AUTO_TEXT struct text field = {0};
    const char *s = r->bytes.s + r->at;
    words_free(&r->row);
    for (; *s == '\r' || *s == '\n'; s++)
        r->lines += *s == '\n';
    r->number = r->lines + 1;
    for (bool more = *s; more; s += more) {
        text_clear(&field);
        if (*s == '"') {
            const char *end = s + 1;
            while ((end = strchr(end, '"')) && end[1] == '"')
                end += 2;
            if (!end)
                return damaged(r, "a quote is not closed");
            for (s++; s < end; s += 1 + (*s == '"')) /* of two quotes, the first */
                text_addn(&field, s, 1);
            s++;
        } else {
            size_t n = strcspn(s, ",\r\n");
            text_addn(&field, s, n);
            s += n;
        }
        if (!printable(field.s, ""))
            return damaged(r, "not printable text");
        if (!strchr(",\r\n", *s)) /* nor the end */
            return damaged(r, "text after a closing quote");
        words_add(&r->row, field.s);
        more = *s == ',';
    }
    r->at = (size_t)(s - r->bytes.s);
    return r->at < r->bytes.len && !*s ? damaged(r, "not printable text") : GS_OK;
}

int csv_read_row(struct csv_reader *r, bool *got)
{
    CHECK(read_fields(r));
    *got = r->row.n > 0;
    size_t first = r->header.n - (r->params.n > 0), expected = first + r->params.n;
    if (*got && r->row.n != expected)
        return fail_at(GS_FAILED, r->path, (int)r->number,
                       "%zu fields under a header of %zu; make the tables again", r->row.n,
                       expected);
    if (!*got || !r->params.n)
        return GS_OK;
    AUTO_TEXT struct text all = {0}; /* the fields of the parameters become one, "size=8 gemms=4" */
    text_clear(&all);
    for (size_t i = 0; i < r->params.n; i++) {
        char *value = r->row.v[first + i];
        if (*value)
            text_addf(&all, "%s%s=%s", all.len ? " " : "", r->params.v[i], value);
        free(value);
    }
    r->row.n = first;
    words_add(&r->row, all.s);
    return GS_OK;
}

int csv_read_open(struct csv_reader *r, const char *path)
{
    size_t n = strlen(CSV_PARAM);
    *r = (struct csv_reader){.path = path};
    text_clear(&r->bytes);
    int code = files_read(path, FILES_ANY, SIZE_MAX, &r->bytes)
                   ? read_fields(r)
                   : fail_at(GS_USAGE, path, 0,
                             "cannot be read: %s; 'make tables' makes the tables from the "
                             "recordings",
                             files_why(errno));
    if (!code && !r->row.n)
        code = fail_at(GS_USAGE, path, 0, "empty; a table begins with a header");
    for (size_t i = 0; i < r->row.n; i++)
        if (strncmp(r->row.v[i], CSV_PARAM, n))
            words_add(&r->header, r->row.v[i]);
        else
            words_add(&r->params, r->row.v[i] + n);
    if (r->params.n)
        words_add(&r->header, CSV_PARAMS);
    if (code)
        csv_read_close(r);
    return code;
}

void csv_read_close(struct csv_reader *r)
{
    text_free(&r->bytes);
    words_free(&r->header);
    words_free(&r->row);
    words_free(&r->params);
    *r = (struct csv_reader){0};
}
