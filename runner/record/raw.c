/* SPDX-License-Identifier: Apache-2.0 */
#include "record/raw.h"

#include "base/err.h"
#include "base/json_names.h"
#include "base/version.h"
#include "record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {"header", "note", "cell",  "block",
                                         "health", "fail", "group", "end"};

struct raw {
    struct raw_lines lines;
    struct chain chain;
    bool trusted;
    unsigned without_trees;
    json_t *json; /* of the line last returned */
    struct raw_head head;
    uint64_t *times;
    size_t times_cap;
};

/* ---- what a line is ---- */

static int damaged(const struct raw *r, const char *what)
{
    fail_at(GS_FAILED, r->lines.path, (int)r->lines.number, "damaged: %s; restore the file", what);
    return -1;
}

static const char *skip_blank(const char *s)
{
    while (*s == ' ')
        s++;
    return s;
}

/* The position after `word` and blanks; NULL: another word, or s is. */
static const char *past(const char *s, const char *word)
{
    size_t n = strlen(word);
    return s && !strncmp(s, word, n) ? skip_blank(s + n) : NULL;
}

/* The type, from the first bytes, so that unwanted lines are not parsed. -1: not a line of a
 * recording. */
static int type_of(const char *line)
{
    const char *s = past(past(past(line, "{"), "\"type\""), ":");
    if (!s || *s++ != '"')
        return -1;
    for (size_t t = 0; t < COUNT(type_names); t++) {
        size_t n = strlen(type_names[t]);
        if (!strncmp(s, type_names[t], n) && s[n] == '"')
            return (int)t;
    }
    return -1;
}

/* ---- samples ---- */

/* Moves `s` back over blanks, at most to `line`. */
static char *back(const char *line, char *s)
{
    while (s > line && s[-1] == ' ')
        s--;
    return s;
}

/* Finds the ',' before the last member, "time_ns": [, and sets *array behind the bracket. It looks
 * for the last bracket, because a metric may have any name, while samples are integers. */
static char *find_times(char *line, size_t n, const char **array)
{
    static const char key[] = "\"time_ns\"";
    const size_t k = sizeof key - 1;
    char *s = memrchr(line, '[', n);
    if (!s)
        return NULL;
    *array = skip_blank(s + 1);
    s = back(line, s);
    if (s == line || *--s != ':')
        return NULL;
    s = back(line, s);
    if ((size_t)(s - line) <= k || memcmp(s - k, key, k) != 0)
        return NULL;
    s = back(line, s - k);
    return s > line && s[-1] == ',' ? s - 1 : NULL;
}

/* Reads integers up to "]}" at the end of the line. False: something else is there. */
static bool scan_times(struct raw *r, const char *s, const char *line_end, size_t *count)
{
    size_t n = 0;
    bool more = *s != ']';
    while (more) {
        uint64_t v = 0;
        const char *first = s;
        for (unsigned digit; (digit = (unsigned)(*s - '0')) <= 9; s++)
            v = v * 10 + digit;
        if (s == first || s - first > 19 || (*first == '0' && s - first > 1))
            return false;
        ALLOC_GROW(r->times, n, r->times_cap);
        r->times[n++] = v;
        s = skip_blank(s);
        more = *s == ',';
        if (more)
            s = skip_blank(s + 1);
    }
    *count = n;
    return past(past(s, "]"), "}") == line_end;
}

/* ---- lines as objects ---- */

static int parse(struct raw *r, char *text, size_t n, struct raw_line *out)
{
    char *line_end = text + n;
    if (out->type == RAW_BLOCK) {
        const char *array;
        char *cut = find_times(text, n, &array);
        if (!cut)
            return damaged(r, "a block without time_ns as its last member");
        if (!scan_times(r, array, line_end, &out->n))
            return damaged(r, "time_ns is not a list of integers");
        out->time_ns = r->times;
        strcpy(cut, "}");
        n = (size_t)(cut - text) + 1;
    }
    if (r->without_trees & 1u << out->type && raw_head_read(&r->head, text, n)) {
        out->head = &r->head;
        return 1;
    }
    json_error_t why;
    r->json = out->json = json_loadb(text, n, r->trusted ? 0 : JSON_REJECT_DUPLICATES, &why);
    if (!out->json)
        return damaged(r, why.text);
    char fault[320];
    return r->trusted || json_names_good(out->json, fault, sizeof fault) ? 1 : damaged(r, fault);
}

int raw_next(struct raw *r, unsigned want, struct raw_line *out)
{
    json_decref(r->json);
    r->json = NULL;
    for (;;) {
        char *text = NULL;
        size_t n = 0;
        int got = raw_lines_next(&r->lines, &text, &n);
        if (got <= 0)
            return got;
        int type = type_of(text);
        bool first = r->lines.number == 1;
        if (type < 0 && first) {
            fail_at(GS_FAILED, r->lines.path, 1, "not a recording: no header of gradsync");
            return -1;
        }
        if (type < 0)
            return damaged(r, "not a line of a recording");
        if ((type == RAW_HEADER) != first)
            return damaged(r, first ? "no header before it" : "a second header");
        if (!r->trusted && !chain_read(&r->chain, text, n, first))
            return damaged(r, "this line was changed, added or moved since it was written, or the "
                              "one before it was removed");
        if (want & 1u << type) {
            *out = (struct raw_line){.type = (enum raw_type)type, .number = r->lines.number};
            return parse(r, text, n, out);
        }
    }
}

/* ---- files ---- */

static int check_schema(struct raw *r, const struct raw_line *header)
{
    int64_t schema;
    const char *version;
    if (!raw_integer(r, header, "schema", &schema) || !raw_string(r, header, "gradsync", &version))
        return GS_FAILED;
    if (schema > RECORD_SCHEMA)
        return fail_at(
            GS_FAILED, r->lines.path, 1,
            "written by gradsync %s in schema %lld, but this gradsync %s reads only up to "
            "schema %d; update gradsync",
            version, (long long)schema, GRADSYNC_VERSION, RECORD_SCHEMA);
    if (!r->trusted && r->chain.absent && strncmp(version, "0.1.", 4) != 0) {
        damaged(r, "its lines have no running hash, which every version after 0.1 writes");
        return GS_FAILED;
    }
    return GS_OK;
}

static int read_header(struct raw *r)
{
    struct raw_line header;
    int got = raw_next(r, 1u << RAW_HEADER, &header);
    int code = got < 0 ? GS_FAILED : got ? check_schema(r, &header) : GS_OK;
    return code ? code : raw_seek(r, (struct raw_place){0});
}

int raw_open_trusted(struct raw **out, const char *path)
{
    struct raw *r = xcalloc(1, sizeof *r);
    int code = raw_lines_open(&r->lines, path);
    r->trusted = true;
    if (code)
        free(r);
    else
        *out = r;
    return code;
}

int raw_open(struct raw **out, const char *path)
{
    int code = raw_open_trusted(out, path);
    if (code)
        return code;
    (*out)->trusted = false;
    code = read_header(*out);
    if (code) {
        raw_close(*out);
        *out = NULL;
    }
    return code;
}

void raw_without_trees(struct raw *r, unsigned types)
{
    r->without_trees = types;
}

bool raw_torn(const struct raw *r)
{
    return r->lines.torn;
}

struct raw_place raw_tell(const struct raw *r)
{
    struct raw_place place = raw_lines_tell(&r->lines);
    place.chain = r->chain;
    return place;
}

int raw_seek(struct raw *r, struct raw_place to)
{
    r->chain = to.chain;
    return raw_lines_seek(&r->lines, to);
}

void raw_close(struct raw *r)
{
    if (!r)
        return;
    json_decref(r->json);
    raw_lines_close(&r->lines);
    free(r->times);
    free(r);
}

/* ---- members ---- */

static bool lacks(const struct raw *r, const struct raw_line *l, const char *key, const char *kind)
{
    fail_at(GS_FAILED, r->lines.path, (int)l->number, "damaged: %s has no %s '%s'",
            type_names[l->type], kind, key);
    return false;
}

static const char *text_of(const struct raw_line *l, const char *key)
{
    const struct raw_member *m = l->head ? raw_head_find(l->head, NULL, key) : NULL;
    return m && m->kind == '"' ? m->value : json_string_value(json_object_get(l->json, key));
}

bool raw_string(const struct raw *r, const struct raw_line *l, const char *key, const char **out)
{
    *out = text_of(l, key);
    return *out || lacks(r, l, key, "text");
}

const char *raw_text(const struct raw_line *l, const char *key)
{
    const char *s = text_of(l, key);
    return s ? s : "";
}

bool raw_integer(const struct raw *r, const struct raw_line *l, const char *key, int64_t *out)
{
    const struct raw_member *m = l->head ? raw_head_find(l->head, NULL, key) : NULL;
    const json_t *v = json_object_get(l->json, key);
    if (!json_is_integer(v) && !(m && m->kind == 'i'))
        return lacks(r, l, key, "integer");
    *out = m ? strtoll(m->value, NULL, 10) : json_integer_value(v);
    return true;
}

double raw_number(const struct raw_line *l, const char *in, const char *key)
{
    const struct raw_member *m = l->head ? raw_head_find(l->head, in, key) : NULL;
    const json_t *v = json_object_get(in ? json_object_get(l->json, in) : l->json, key);
    if (m && (m->kind == 'i' || m->kind == 'r'))
        return strtod(m->value, NULL);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}
