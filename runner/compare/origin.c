/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/origin.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- alike ---- */

const char *const alike_config[] = {"config", "algorithm", "protocol", "ctas", "memory", NULL};

char *alike_without(const char *params, const char *const *keys)
{
    AUTO_WORDS struct words w = {0};
    struct text t = {0};
    text_add(&t, "");
    words_split(&w, params, ' ');
    for (size_t i = 0; i < w.n; i++) {
        size_t n = strcspn(w.v[i], "="), k = 0;
        while (keys[k] && (strlen(keys[k]) != n || strncmp(w.v[i], keys[k], n) != 0))
            k++;
        if (!keys[k])
            text_addf(&t, "%s%s", t.len ? " " : "", w.v[i]);
    }
    return t.s;
}

/* ---- origin ---- */

/* The keys of a header, of each host and GPU in it, and of the notes of a process. */
static const char *const header_keys[] = {"gradsync", "plugin", "mpi", "config_sha256"};
static const char *const host_keys[] = {"host",   "cpu",    "kernel",     "device",
                                        "driver", "clocks", "persistence"};
static const char *const gpu_keys[] = {"name", "driver", "cuda_driver"};
static const char *const note_keys[] = {"nccl", "cublas",    "cuda_runtime", "cuda_driver",
                                        "gpu",  "gpu_shape", "backend"};

/* The value of the line with this key; NULL: none. */
static const char *value_in(const char *text, const char *key, size_t n)
{
    for (const char *s = text; *s; s += strcspn(s, "\n") + 1)
        if (!strncmp(s, key, n) && s[n] == ' ')
            return s + n + 1;
    return NULL;
}

static void add_line(struct text *t, const char *key, const char *value)
{
    text_addf(t, "%s ", key);
    for (const char *s = value; *s; s++)
        text_addn(t, *s == '\n' ? " " : s, 1);
    text_add(t, "\n");
}

/* The distinct values of a key over the hosts, or over `part` of each host, sorted: the order of the
 * hosts does not matter. */
static void add_hosts(struct text *t, const json_t *hosts, const char *part, const char *key)
{
    AUTO_WORDS struct words w = {0};
    AUTO_TEXT struct text all = {0};
    for (size_t i = 0; i < json_array_size(hosts); i++) {
        const json_t *host = json_array_get(hosts, i);
        const char *s =
            json_string_value(json_object_get(part ? json_object_get(host, part) : host, key));
        if (s)
            words_add_once(&w, s);
    }
    words_sort(&w);
    for (size_t i = 0; i < w.n; i++)
        text_addf(&all, "%s%s", all.len ? "+" : "", w.v[i]);
    AUTO_FREE char *name = part ? xstrfmt("%s_%s", part, key) : xstrdup(key);
    if (all.len)
        add_line(t, name, all.s);
}

static char *origin_of(const struct rec_file *f)
{
    struct text t = {0};
    const json_t *hosts = json_object_get(f->header, "hosts");
    json_t *env = json_object_get(f->header, "env"), *v;
    const char *name;
    AUTO_WORDS struct words names = {0};
    text_clear(&t);
    for (size_t i = 0; i < COUNT(header_keys); i++) {
        const char *s = json_string_value(json_object_get(f->header, header_keys[i]));
        if (s)
            add_line(&t, header_keys[i], s);
    }
    for (size_t i = 0; i < COUNT(host_keys); i++)
        add_hosts(&t, hosts, NULL, host_keys[i]);
    for (size_t i = 0; i < COUNT(gpu_keys); i++)
        add_hosts(&t, hosts, "gpu", gpu_keys[i]);
    json_object_foreach(env, name, v) words_add(&names, name);
    words_sort(&names);
    for (size_t i = 0; i < names.n; i++)
        add_line(&t, names.v[i], json_text_of(env, names.v[i]));
    for (size_t i = 0; i + 1 < f->notes.n; i += 2)
        for (size_t k = 0; k < COUNT(note_keys); k++)
            if (!strcmp(f->notes.v[i], note_keys[k]) &&
                !value_in(t.s, note_keys[k], strlen(note_keys[k])))
                add_line(&t, note_keys[k], f->notes.v[i + 1]);
    return t.s;
}

/* ---- of a run ---- */

void origins_of_run(struct origins *o, const struct recorded *r)
{
    *o = (struct origins){.of_file = xcalloc(r->n_files + 1, sizeof *o->of_file)};
    for (size_t i = 0; i < r->n_files; i++) {
        char *text = origin_of(&r->files[i]);
        size_t k = 0;
        while (k < o->n && strcmp(o->texts[k], text) != 0)
            k++;
        o->of_file[i] = k;
        if (k < o->n)
            free(text);
        else
            APPEND(o->texts, o->n) = text;
    }
}

void origins_free(struct origins *o)
{
    for (size_t i = 0; i < o->n; i++)
        free(o->texts[i]);
    free(o->texts);
    free(o->of_file);
    *o = (struct origins){0};
}

size_t origins_of(const struct origins *o, const struct recorded *r, size_t group, int launch)
{
    bool closed;
    const struct rec_span *span = recorded_span(r, group, launch, &closed);
    return span ? o->of_file[span->file] : o->n;
}

/* ---- differences ---- */

#define HASH_SHOWN 12 /* characters of a hash that are printed */

static void add_difference(struct text *t, const char *key, size_t n, const char *a, const char *b)
{
    const int most = memmem(key, n, "sha256", strlen("sha256")) ? HASH_SHOWN : INT_MAX;
    a = a ? a : "none";
    b = b ? b : "none";
    const int length_a = (int)strcspn(a, "\n"), length_b = (int)strcspn(b, "\n");
    text_addf(t, "%s%.*s %.*s | %.*s", t->len ? ", " : "", (int)n, key,
              length_a < most ? length_a : most, a, length_b < most ? length_b : most, b);
}

char *origin_difference(const char *a, const char *b)
{
    struct text t = {0};
    text_clear(&t);
    for (const char *s = a; *s; s += strcspn(s, "\n") + 1) {
        size_t n = strcspn(s, " ");
        const char *v = s + n + 1, *w = value_in(b, s, n);
        size_t length = strcspn(v, "\n") + 1;
        if (!w || strncmp(v, w, length))
            add_difference(&t, s, n, v, w);
    }
    for (const char *s = b; *s; s += strcspn(s, "\n") + 1) {
        size_t n = strcspn(s, " ");
        if (!value_in(a, s, n))
            add_difference(&t, s, n, NULL, s + n + 1);
    }
    return t.s;
}
