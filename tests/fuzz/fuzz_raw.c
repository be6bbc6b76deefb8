/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a recording. The reader's own scanner of samples may accept nothing that is not
 * JSON, and must read what JSON says.
 */
#include "bundle.h"
#include "config/config.h"
#include "record/ledger.h"
#include "record/raw.h"

/* The number-th line of the bytes, without its newline. */
static const char *line_of(const uint8_t *data, size_t n, size_t number, size_t *length)
{
    const char *s = (const char *)data, *end = s + n;
    while (--number)
        s = (const char *)memchr(s, '\n', (size_t)(end - s)) + 1;
    *length = (size_t)((const char *)memchr(s, '\n', (size_t)(end - s)) - s);
    return s;
}

static void compare(const uint8_t *data, size_t n, const struct raw_line *l)
{
    size_t length, i;
    const char *line = line_of(data, n, l->number, &length);
    for (i = 0; i < l->n; i++)
        if (l->time_ns[i] > INT64_MAX)
            return; /* further than the JSON library counts */
    json_t *whole = json_loadb(line, length, 0, NULL), *v;
    json_t *times = json_object_get(whole, "time_ns");
    if (!whole || !json_is_array(times) || json_array_size(times) != l->n)
        abort();
    json_array_foreach(times, i, v)
    {
        if (!json_is_integer(v) || (uint64_t)json_integer_value(v) != l->time_ns[i])
            abort();
    }
    json_decref(whole);
}

/* The value of a member in the tree of its line. */
static const json_t *value_of(const json_t *whole, const struct raw_member *m)
{
    size_t index = 0;
    const json_t *in = m->in ? value_of(whole, m->in) : whole;
    for (const struct raw_member *k = m->before; k; k = k->before)
        index++;
    return json_is_array(in) ? json_array_get(in, index) : json_object_get(in, m->key);
}

/* What is read without a tree is JSON, has good names, and says what the tree says. */
static void compare_head(const uint8_t *data, size_t n, const struct raw_line *l)
{
    size_t length;
    char why[320];
    const char *line = line_of(data, n, l->number, &length);
    json_t *whole = json_loadb(line, length, 0, NULL);
    if (!whole || !json_names_good(whole, why, sizeof why))
        abort();
    for (const struct raw_member *m = l->head->v; m < l->head->v + l->head->n; m++) {
        const json_t *v = value_of(whole, m);
        if (l->type == RAW_BLOCK && !strcmp(m->key, "time_ns"))
            continue; /* the samples have this name as well */
        if (!v || (m->kind == '"' && strcmp(m->value, json_string_value(v))) ||
            (m->kind == 'i' && strtoll(m->value, NULL, 10) != json_integer_value(v)) ||
            (m->kind == 'r' && strtod(m->value, NULL) != json_real_value(v)) ||
            (m->kind == '{') != json_is_object(v) || (m->kind == '[') != json_is_array(v))
            abort();
    }
    json_decref(whole);
}

static void read_heads(const char *path, const uint8_t *data, size_t n)
{
    struct raw *r;
    struct raw_line l;
    if (raw_open(&r, path))
        return;
    raw_without_trees(r, ~0u);
    for (int got; (got = raw_next(r, ~0u, &l)) != 0;)
        if (got > 0 && l.head)
            compare_head(data, n, &l);
    raw_close(r);
}

static void read_all(const char *path, const uint8_t *data, size_t n)
{
    struct raw *r;
    struct raw_line l;
    if (raw_open(&r, path))
        return;
    for (int got; (got = raw_next(r, ~0u, &l)) != 0;)
        if (got > 0 && l.type == RAW_BLOCK)
            compare(data, n, &l);
    raw_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static char path[96]; /* a real file: recordings behind links are not read */
    char error[256];
    if (!*path) {
        const char *in = getenv("GRADSYNC_FUZZ_FOLDER"); /* tests/fuzz/run removes it */
        snprintf(path, sizeof path, "%s/recording-%ld.jsonl", in ? in : ".", (long)getpid());
    }
    FILE *f = fopen(path, "we");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f))
        abort();
    err_capture(error, sizeof error);
    say_quiet(1);
    read_all(path, data, n);
    read_heads(path, data, n);
    ledger_check_file(path);
    err_capture(NULL, 0);
    return 0;
}
