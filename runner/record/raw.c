/* SPDX-License-Identifier: Apache-2.0 */
#include "record/raw.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "base/version.h"
#include "config/config.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the members of a line ---- */

#define INTEGER_BYTES 18 /* that an int64_t holds, whatever the digits */

/* ---- values: each function returns the end of what begins at s, or NULL: not of this form ---- */

static const char *skip_number(const char *s, char *kind)
{
    bool integer;
    const char *end = json_number_end(s, &integer);
    if (!end)
        return NULL;
    *kind = integer ? 'i' : 'r';
    return (integer ? end - s <= INTEGER_BYTES : isfinite(strtod(s, NULL))) ? end : NULL;
}

/* Up to the quote: printable ASCII without escapes. */
static const char *skip_text(const char *s)
{
    while (*s >= 0x20 && *s < 0x7f && *s != '"' && *s != '\\')
        s++;
    return *s == '"' ? s : NULL;
}

static const char *read_members(struct raw_head *h, const char *s, const struct raw_member *in);

static const char *read_value(struct raw_head *h, struct raw_member *m, const char *s)
{
    m->kind = *s;
    m->value = s;
    if (*s == '"') {
        m->value = s + 1;
        s = skip_text(m->value);
        m->text_n = s ? (size_t)(s - m->value) : 0;
        return s ? s + 1 : NULL;
    }
    if (*s == '{' || *s == '[')
        return read_members(h, s, m);
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < COUNT(words); i++)
        if (!strncmp(s, words[i], strlen(words[i])))
            return s + strlen(words[i]);
    return skip_number(s, &m->kind);
}

/* Sets the key, which no neighbour may have. */
static const char *read_key(struct raw_member *m, const char *s)
{
    const char *quote = *s == '"' ? skip_text(s + 1) : NULL;
    if (!quote || quote[1] != ':')
        return NULL;
    m->key = s + 1;
    m->key_n = (size_t)(quote - m->key);
    for (const struct raw_member *k = m->before; k; k = k->before)
        if (k->key_n == m->key_n && !memcmp(k->key, m->key, m->key_n))
            return NULL;
    return quote + 2;
}

/* The object or array at s. */
static const char *read_members(struct raw_head *h, const char *s, const struct raw_member *in)
{
    const bool array = *s == '[';
    const char close = array ? ']' : '}';
    const struct raw_member *before = NULL;
    for (bool more = *++s != close; more; s += more) {
        if (h->n == RAW_MEMBERS)
            return NULL;
        struct raw_member *m = &h->v[h->n++];
        *m = (struct raw_member){.in = in, .before = before};
        if (array)
            m->key = in->key, m->key_n = in->key_n;
        else
            s = read_key(m, s);
        s = s ? read_value(h, m, s) : NULL;
        if (!s)
            return NULL;
        before = m;
        more = *s == ',';
    }
    return *s == close ? s + 1 : NULL;
}

/* ---- texts ---- */

/* Writes `with` over the quotes behind the keys and the texts. */
static void end_texts(const struct raw_head *h, char *line, char with)
{
    for (const struct raw_member *m = h->v; m < h->v + h->n; m++) {
        line[m->key - line + (ptrdiff_t)m->key_n] = with;
        if (m->kind == '"')
            line[m->value - line + (ptrdiff_t)m->text_n] = with;
    }
}

static bool good(const struct raw_member *m)
{
    bool simple = printable_name(m->key);
    if (m->kind != '"' || !*m->value || printable_name(m->value))
        return simple;
    for (const struct raw_member *p = m; p && simple; p = p->in)
        simple = json_names_simple(p->key, m->value);
    return simple;
}

/* Splits the line of n bytes, which a '\0' follows; checked: its names were checked before. False: the line is
 * not of this form, and is unchanged. */
static bool raw_head_read(struct raw_head *h, char *s, size_t n, bool checked)
{
    h->n = 0;
    const char *end = *s == '{' ? read_members(h, s, NULL) : NULL;
    if (end != s + n)
        return false;
    end_texts(h, s, '\0');
    for (const struct raw_member *m = h->v; m < h->v + h->n && !checked; m++)
        if (!good(m)) {
            end_texts(h, s, '"');
            return false;
        }
    return true;
}

/* The member of the line, or of its member `in` (NULL: of the line itself); NULL: there is none. */
static const struct raw_member *raw_head_find(const struct raw_head *h, const char *in,
                                              const char *key)
{
    const struct raw_member *parent = in ? raw_head_find(h, NULL, in) : NULL;
    if (in && (!parent || parent->kind != '{'))
        return NULL;
    for (const struct raw_member *m = h->v; m < h->v + h->n; m++)
        if (m->in == parent && *m->key == *key && !strcmp(m->key, key))
            return m;
    return NULL;
}

/* ---- lines ---- */

#define CHAIN_DIGITS 16
#define HELD_MOST ((size_t)256 << 20) /* bytes of files that are kept after their readers */
#define TICK_S 0.02 /* two changes of a file within one tick of its clock have the same time */

/* A file as this process read it. A verb needs each recording several times; the disk, the hash and the
 * check are needed once, until the file changes. */
struct held {
    char *path;
    struct text bytes;
    struct stat as; /* before it was read */
    bool settled;   /* another change would have another time */
    bool checked;   /* every line was found good */
    size_t readers;
};

static struct held **held;
static size_t n_held;

/* Frees what nobody reads of this path; of every path, if that is too much. */
static void let_go(const char *path)
{
    size_t kept = 0, bytes = 0;
    for (size_t i = 0; i < n_held; i++)
        bytes += held[i]->bytes.len;
    for (size_t i = 0; i < n_held; i++) {
        struct held *h = held[i];
        if (h->readers || (bytes < HELD_MOST && strcmp(h->path, path) != 0)) {
            held[kept++] = h;
            continue;
        }
        text_free(&h->bytes);
        free(h->path);
        free(h);
    }
    n_held = kept;
}

/* NULL: reported. */
static struct held *hold(const char *path)
{
    struct stat now = {0};
    struct timespec t;
    bool there = !lstat(path, &now);
    for (size_t i = 0; there && i < n_held; i++) {
        const struct stat *as = &held[i]->as;
        if (held[i]->settled && !strcmp(held[i]->path, path) && as->st_dev == now.st_dev &&
            as->st_ino == now.st_ino && as->st_size == now.st_size &&
            as->st_mtim.tv_sec == now.st_mtim.tv_sec && as->st_mtim.tv_nsec == now.st_mtim.tv_nsec)
            return held[i];
    }
    let_go(path);
    clock_gettime(CLOCK_REALTIME, &t);
    double age_s =
        (double)(t.tv_sec - now.st_mtim.tv_sec) + (double)(t.tv_nsec - now.st_mtim.tv_nsec) * 1e-9;
    struct held *h = xcalloc(1, sizeof *h);
    *h = (struct held){.path = xstrdup(path), .as = now, .settled = age_s > TICK_S};
    APPEND(held, n_held) = h;
    if (files_read(path, FILES_OWN, SIZE_MAX, &h->bytes))
        return h;
    fail_at(GS_FAILED, path, 0, "cannot be opened: %s", files_why(errno));
    let_go(path);
    return NULL;
}

int raw_sha256(const char *path, char hex[65])
{
    const struct held *h = hold(path);
    if (h)
        sha256_hex(h->bytes.s, h->bytes.len, hex);
    return h ? GS_OK : GS_FAILED;
}

struct raw {
    struct held *file;
    size_t at;        /* of the next line */
    size_t number;    /* of the line last returned */
    struct text line; /* a copy of it, which is cut into its parts */
    int launch;
    bool torn;
    bool checks;                  /* the file was not checked before */
    bool undigested;              /* of a version that wrote neither a digest nor a chain */
    char chain[CHAIN_DIGITS + 1]; /* of the line last returned; "": it has none */
    unsigned without_trees;
    json_t *json; /* of the line last returned */
    struct raw_head head;
    uint64_t *times;
    size_t times_cap;
};

/* The next complete line, which '\n' ends. 1: a line; 0: the end; -1: reported. */
static int next_line(struct raw *r, const char **line, size_t *n)
{
    size_t have = r->file->bytes.len - r->at;
    *line = r->file->bytes.s + r->at;
    const char *nl = have ? memchr(*line, '\n', have) : NULL;
    *n = nl ? (size_t)(nl - *line) : have;
    if (*n > RAW_LINE_MAX) {
        fail_at(GS_FAILED, r->file->path, (int)r->number + 1,
                "a line is longer than %d MiB: this is not a recording", RAW_LINE_MAX >> 20);
        return -1;
    }
    r->torn = !nl && have;
    if (!nl)
        return 0;
    r->at += *n + 1;
    r->number++;
    return 1;
}

/* ---- what a line is ---- */

static const char *const type_names[] = {"header", "note", "cell",  "block",
                                         "health", "fail", "group", "end"};

static int damaged(const struct raw *r, const char *what)
{
    fail_at(GS_FAILED, r->file->path, (int)r->number, "damaged: %s; restore the file", what);
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

/* Finds the ',' before the last member, "time_ns": [, and sets *array to the bracket. It looks
 * for the last bracket, because a metric may have any name, while samples are integers. */
static char *find_times(char *line, size_t n, char **array)
{
    static const char key[] = "\"time_ns\"";
    const size_t k = sizeof key - 1;
    char *s = memrchr(line, '[', n);
    if (!s)
        return NULL;
    *array = s;
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
        if (n >= r->times_cap) {
            r->times_cap = 2 * n + 16;
            r->times = xrealloc(r->times, r->times_cap * sizeof *r->times);
        }
        r->times[n++] = v;
        s = skip_blank(s);
        more = *s == ',';
        if (more)
            s = skip_blank(s + 1);
    }
    *count = n;
    return past(past(s, "]"), "}") == line_end;
}

/* ---- is a line as it was written? ---- */

/* The chain of the lines of older recordings (record.h). */
static bool chain_holds(struct raw *r, const char *line, size_t n)
{
    static const char start[] = "{\"type\":\"", key[] = ",\"chain\":\"";
    const size_t from = sizeof start - 1, member = sizeof key - 1 + CHAIN_DIGITS + 1;
    const char *quote = n > from ? memchr(line + from, '"', n - from) : NULL;
    size_t place = quote ? (size_t)(quote - line) + 1 : n;
    bool there = n >= place + member && !memcmp(line + place, key, sizeof key - 1);
    if (!there || (r->number > 1 && !*r->chain))
        return !there && (r->number == 1 || !*r->chain);
    unsigned char hash[crypto_generichash_BYTES_MIN];
    char now[2 * sizeof hash + 1];
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    crypto_generichash_update(&state, (const unsigned char *)r->chain, strlen(r->chain));
    crypto_generichash_update(&state, (const unsigned char *)line, place);
    crypto_generichash_update(&state, (const unsigned char *)line + place + member,
                              n - place - member);
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2hex(now, sizeof now, hash, sizeof hash);
    const char *told = line + place + sizeof key - 1;
    /* From what the line says: the lines after a changed one are not reported as well. */
    memcpy(r->chain, told, CHAIN_DIGITS);
    return !strncmp(told, now, CHAIN_DIGITS) && told[CHAIN_DIGITS] == '"';
}

/* Reported if not. */
static bool is_as_written(struct raw *r, int type, const char *line, size_t n)
{
    const size_t key = sizeof RECORD_DIGEST - 1, member = key + 64 + sizeof "\"}" - 1;
    const char *digest = type == RAW_END && n > member ? line + n - member : NULL;
    char hex[65], want[128];
    const char *fault = NULL;
    if (digest && !memcmp(digest, RECORD_DIGEST, key)) {
        sha256_hex(r->file->bytes.s, (size_t)(digest - r->file->bytes.s), hex);
        snprintf(want, sizeof want, RECORD_DIGEST "%s\"}", hex);
        if (memcmp(digest, want, member) != 0)
            fault = "the digest in this line is not that of the file before it, which was changed "
                    "since it was written";
    } else if (!chain_holds(r, line, n))
        fault = "this line was changed, added or moved since it was written, or the one before it "
                "was removed";
    else if (type == RAW_END && !*r->chain && !r->undigested)
        fault = "it has no digest, which every version after 0.1 writes";
    if (fault)
        damaged(r, fault);
    return !fault;
}

/* ---- lines as objects ---- */

static int parse(struct raw *r, const char *line, size_t n, struct raw_line *out)
{
    r->line.len = 0;
    text_addn(&r->line, line, n);
    char *text = r->line.s, *line_end = text + n;
    if (out->type == RAW_BLOCK) {
        char *array, *cut = find_times(text, n, &array);
        if (!cut)
            return damaged(r, "a block without time_ns as its last member");
        if (!scan_times(r, skip_blank(array + 1), line_end, &out->n))
            return damaged(r, "time_ns is not a list of integers");
        out->time_ns = r->times;
        strcpy(cut, "}");
        n = (size_t)(cut - text) + 1;
    }
    if (r->without_trees & 1u << out->type && raw_head_read(&r->head, text, n, r->file->checked)) {
        out->head = &r->head;
        return 1;
    }
    json_error_t why;
    r->json = out->json = json_loadb(text, n, r->file->checked ? 0 : JSON_REJECT_DUPLICATES, &why);
    if (!out->json)
        return damaged(r, why.text);
    char fault[320];
    return r->file->checked || json_names_good(out->json, fault, sizeof fault) ? 1
                                                                               : damaged(r, fault);
}

const json_t *raw_tree(struct raw *r, const struct raw_line *line)
{
    if (line->head && !r->json) {
        end_texts(line->head, r->line.s, '"');
        r->json = json_loads(r->line.s, 0, NULL);
        end_texts(line->head, r->line.s, '\0');
    }
    return r->json;
}

int raw_next(struct raw *r, unsigned want, struct raw_line *out)
{
    json_decref(r->json);
    r->json = NULL;
    for (;;) {
        const char *text;
        size_t n;
        int got = next_line(r, &text, &n);
        if (got <= 0)
            return got;
        int type = type_of(text);
        bool first = r->number == 1;
        if (type < 0 && first) {
            fail_at(GS_FAILED, r->file->path, 1, "not a recording: no header of gradsync");
            return -1;
        }
        if (type < 0)
            return damaged(r, "not a line of a recording");
        if ((type == RAW_HEADER) != first)
            return damaged(r, first ? "no header before it" : "a second header");
        if (r->checks && !is_as_written(r, type, text, n))
            return -1;
        if (want & 1u << type) {
            *out = (struct raw_line){
                .type = (enum raw_type)type, .launch = r->launch, .number = r->number};
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
            GS_FAILED, r->file->path, 1,
            "written by gradsync %s in schema %lld, but this gradsync %s reads only up to "
            "schema %d; update gradsync",
            version, (long long)schema, GRADSYNC_VERSION, RECORD_SCHEMA);
    r->undigested = !strncmp(version, "0.1.", 4);
    return GS_OK;
}

int raw_open(struct raw **out, const char *path)
{
    struct held *h = hold(path);
    *out = NULL;
    if (!h)
        return GS_FAILED;
    *out = xcalloc(1, sizeof **out);
    (*out)->file = h;
    h->readers++;
    int attempt;
    record_parse_name(path_name(path), &(*out)->launch, &attempt);
    (*out)->checks = !h->checked;
    struct raw_line header;
    int got = h->checked ? 0 : raw_next(*out, 1u << RAW_HEADER, &header);
    int code = got < 0 ? GS_FAILED : got ? check_schema(*out, &header) : GS_OK;
    (*out)->at = (*out)->number = 0;
    (*out)->torn = false;
    *(*out)->chain = '\0';
    if (code) {
        raw_close(*out);
        *out = NULL;
    }
    return code;
}

void raw_set_checked(struct raw *r)
{
    r->file->checked = true;
}

bool raw_torn(const struct raw *r)
{
    return r->torn;
}

void raw_without_trees(struct raw *r, unsigned types)
{
    r->without_trees = types;
}

void raw_close(struct raw *r)
{
    if (!r)
        return;
    r->file->readers--;
    json_decref(r->json);
    text_free(&r->line);
    free(r->times);
    free(r);
}

int raw_each(const char *dir, unsigned types, bool (*take)(void *ctx, const struct raw_line *l),
             void *ctx)
{
    AUTO_WORDS struct words paths = {0};
    bool more = true;
    if (!record_list(dir, &paths))
        return fail_at(GS_USAGE, dir, 0, "is not a run folder: %s", strerror(errno));
    for (size_t i = 0; i < paths.n && more; i++) {
        AUTO(raw_close_of) struct raw *raw = NULL;
        struct raw_line l;
        int got = 1;
        CHECK(raw_open(&raw, paths.v[i]));
        while (more && (got = raw_next(raw, types, &l)) == 1)
            more = take(ctx, &l);
        if (got < 0)
            return GS_FAILED;
    }
    return GS_OK;
}

/* ---- members ---- */

static bool lacks(const struct raw *r, const struct raw_line *l, const char *key, const char *kind)
{
    fail_at(GS_FAILED, r->file->path, (int)l->number, "damaged: %s has no %s '%s'",
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

/* ---- the end of a recording ---- */

json_t *raw_fail_line(const struct raw_death *d)
{
    return json_pack("{ss so si so so si so so}", "type", "fail", "cell", json_text(d->cell),
                     "copy", d->copy, "kind", json_text(d->kind), "why", json_text(d->why), "rank",
                     d->rank, "host", json_text(d->host), "phase", json_text(d->phase));
}

/* The end of the last complete line; -1 and errno if the file cannot be read. */
static off_t whole_lines(int fd)
{
    char buf[4096];
    off_t end = lseek(fd, 0, SEEK_END);
    while (end > 0) {
        size_t n = end < (off_t)sizeof buf ? (size_t)end : sizeof buf;
        ssize_t got = pread(fd, buf, n, end - (off_t)n);
        if (got != (ssize_t)n)
            return -1;
        const char *newline = memrchr(buf, '\n', n);
        if (newline)
            return end - (off_t)n + (newline - buf) + 1;
        end -= (off_t)n;
    }
    return end;
}

/* Reads the recording up to its end: more lines follow only those that were written. */
static int find_end(struct record *r, bool *ended)
{
    AUTO(raw_close_of) struct raw *raw = NULL;
    struct raw_line line;
    int got = 0, code = raw_open(&raw, r->path);
    if (code)
        return code;
    while ((got = raw_next(raw, 1u << RAW_END, &line)) == 1)
        *ended = true;
    sha256_add(&r->written, raw->file->bytes.s, raw->at);
    return got < 0 ? GS_FAILED : GS_OK;
}

int raw_reopen(struct record *r, const char *path, bool *ended)
{
    *ended = false;
    *r = (struct record){.fd = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (r->fd < 0)
        return record_cannot("open", path);
    r->path = xstrdup(path);
    off_t end = whole_lines(r->fd);
    int code = end < 0 || ftruncate(r->fd, end)
                   ? record_cannot("remove the incomplete last line", path)
                   : find_end(r, ended);
    if (code)
        record_close(r);
    return code;
}

int raw_end_write(const char *path, const char *status, const struct raw_death *death)
{
    struct record r;
    bool ended;
    if (access(path, F_OK) || record_is_being_written(path))
        return GS_OK;
    int code = raw_reopen(&r, path, &ended);
    if (code)
        return code;
    if (lseek(r.fd, 0, SEEK_END) == 0)
        unlink(path);
    else if (!ended) {
        code = death ? record_line(&r, raw_fail_line(death)) : GS_OK;
        TRY(code, record_end(&r, status));
    }
    int at_close = record_close(&r);
    return code ? code : at_close;
}
