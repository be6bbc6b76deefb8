/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_params.h"

#include "base/text.h"

#include <string.h>

#define ROUNDS 100 /* of ordering: texts that contradict each other have no order */

/* ---- one text ---- */

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

/* ---- the columns of all texts ---- */

struct spread {
    size_t column;     /* of CSV_PARAMS */
    struct words keys; /* in the order of their columns */
    struct words seen; /* the keys of each text that differ, "size gemms" */
};

static void put_key(struct words *keys, size_t from, size_t to)
{
    char *key = keys->v[from];
    if (from < to)
        memmove(keys->v + from, keys->v + from + 1, (to - from) * sizeof *keys->v);
    else
        memmove(keys->v + to + 1, keys->v + to, (from - to) * sizeof *keys->v);
    keys->v[to] = key;
}

/* Puts each key behind the one before it. True: a known key moved. */
static bool order_by(struct words *keys, const char *seen)
{
    AUTO_WORDS struct words w = {0};
    bool moved = false;
    size_t next = 0;
    words_split(&w, seen, ' ');
    for (size_t i = 0; i < w.n; i++) {
        size_t at = words_find(keys, w.v[i]);
        bool is_new = at == keys->n, behind = at < next;
        if (is_new)
            words_add(keys, w.v[i]);
        if (is_new || behind)
            put_key(keys, at, is_new ? next : --next);
        next = (is_new || behind ? next : at) + 1;
        moved = moved || behind;
    }
    return moved;
}

static void see(struct spread *s, const char *text)
{
    AUTO_WORDS struct words keys = {0}, values = {0};
    AUTO_TEXT struct text seen = {0};
    text_clear(&seen);
    split_params(text, &keys, &values);
    for (size_t i = 0; i < keys.n; i++)
        text_addf(&seen, "%s%s", i ? " " : "", keys.v[i]);
    if (seen.len && !words_has(&s->seen, seen.s))
        words_add(&s->seen, seen.s);
}

static void order_columns(struct spread *s)
{
    bool moved = true;
    for (int round = 0; round < ROUNDS && moved; round++) {
        moved = false;
        for (size_t i = 0; i < s->seen.n; i++)
            moved |= order_by(&s->keys, s->seen.v[i]);
    }
}

/* ---- the file ---- */

static const char *field(const struct csv_reader *r, size_t i)
{
    return r->fields.s + r->starts[i];
}

static void write_others(struct csv *out, const struct csv_reader *r, size_t without)
{
    for (size_t i = 0; i < r->n_header; i++)
        if (i != without)
            csv_text(out, field(r, i));
}

static void write_header(struct csv *out, const struct spread *s, const struct csv_reader *r)
{
    write_others(out, r, s->column);
    for (size_t i = 0; i < s->keys.n; i++) {
        AUTO_FREE char *name = xstrfmt(CSV_PARAM "%s", s->keys.v[i]);
        csv_text(out, name);
    }
    csv_end(out);
}

static void write_row(struct csv *out, const struct spread *s, const struct csv_reader *r)
{
    AUTO_WORDS struct words keys = {0}, values = {0};
    split_params(field(r, s->column), &keys, &values);
    write_others(out, r, s->column);
    for (size_t i = 0; i < s->keys.n; i++) {
        size_t at = words_find(&keys, s->keys.v[i]);
        csv_text(out, at < keys.n ? values.v[at] : "");
    }
    csv_end(out);
}

/* Reads the file; the first time (out is NULL) to learn the keys, the second time to write. */
static int pass(struct spread *s, const char *path, struct csv *out)
{
    static const char *const wanted[] = {CSV_PARAMS, NULL};
    AUTO(csv_read_close) struct csv_reader r = {0};
    bool got = true;
    int code = csv_read_open(&r, path, wanted);
    if (code)
        return code;
    s->column = r.columns[0];
    if (out)
        write_header(out, s, &r);
    while (!(code = csv_read_row(&r, &got)) && got)
        if (out)
            write_row(out, s, &r);
        else
            see(s, csv_read_text(&r, 0));
    return code;
}

static int spread_file(struct spread *s, const char *path)
{
    struct csv out;
    int code = pass(s, path, NULL);
    order_columns(s);
    if (!s->keys.n)
        words_add(&s->keys, CSV_PARAM_ANY);
    if (!code)
        code = csv_open(&out, path);
    if (code)
        return code;
    code = pass(s, path, &out);
    int closed = csv_close(&out, !code);
    return code ? code : closed;
}

static int spread_params(struct csv *c)
{
    struct spread s = {0};
    int code = spread_file(&s, c->temp);
    words_free(&s.keys);
    words_free(&s.seen);
    return code;
}

void csv_params_header(struct csv *c, const char *columns)
{
    AUTO_WORDS struct words names = {0};
    words_split(&names, columns, ',');
    csv_header(c, columns);
    c->last_pass = words_has(&names, CSV_PARAMS) ? spread_params : NULL;
}
