/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/define.h"

#include "base/err.h"
#include "base/text.h"
#include "publish/expand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

const struct macro *definitions_find(const struct definitions *d, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (!strcmp(d->v[i].field[DEF_NAME], name))
            return &d->v[i];
    return NULL;
}

static int add_macro(struct reading *r, const struct binding *b, const struct words *w, void *ctx)
{
    struct macro m = {.line = r->line};
    (void)ctx;
    size_t i = 0;
    do /* a line has a name at least */
        if (!(m.field[i] = expand_text(r, b, w->v[i])))
            return GS_USAGE;
    while (++i < w->n);
    if (definitions_find(r->d, m.field[DEF_NAME]))
        return expand_wrong(r, "a second definition of", m.field[DEF_NAME]);
    r->d->v = xrealloc(r->d->v, (r->d->n + 1) * sizeof *r->d->v);
    r->d->v[r->d->n++] = m;
    return GS_OK;
}

static int read_macro(struct reading *r, const struct words *w)
{
    struct binding b = {0};
    if (w->n < DEF_ELSE || w->n > DEF_FIELDS)
        return expand_wrong(r, "not five or six fields in the definition of", w->v[0]);
    int code = expand_bind(r, &b, w->v[DEF_NAME]);
    return code ? code : expand_each(r, &b, 0, b.n, w, add_macro, NULL);
}

int definitions_add(struct definitions *d, const char *name, const char *text)
{
    struct reading r = {.d = d};
    char *line = xstrfmt("%s | %s", name, text);
    struct words w;
    words_split(&w, line, '|');
    int code = read_macro(&r, &w);
    words_free(&w);
    free(line);
    return code;
}

/* ---- bodies of tables ---- */

static int add_line(struct reading *r, const struct binding *b, const struct words *w, void *ctx)
{
    char *line = expand_text(r, b, w->v[3]);
    if (line)
        text_addf(ctx, "%s\n", line);
    free(line);
    return line ? GS_OK : GS_USAGE;
}

/* Of a body's variables: those of its name come first, and those that its text runs over end here.
 */
struct reach {
    size_t named, all;
};

static int add_body(struct reading *r, const struct binding *named, const struct words *w,
                    void *ctx)
{
    struct binding b = *named;
    struct text t = {0};
    const struct reach *reach = ctx;
    text_clear(&t);
    text_add(&t, "");
    int code = expand_each(r, &b, reach->named, reach->all, w, add_line, &t);
    r->d->bodies = xrealloc(r->d->bodies, (r->d->n_bodies + 1) * sizeof *r->d->bodies);
    r->d->bodies[r->d->n_bodies++] = (struct body){expand_text(r, &b, w->v[1]), t.s, r->line};
    return code;
}

static int read_rows(struct reading *r, const struct words *w)
{
    struct binding b = {0};
    struct words over;
    int code =
        w->n == 4 ? expand_bind(r, &b, w->v[1]) : expand_wrong(r, "no four fields in", "rows");
    if (code)
        return code;
    struct reach reach = {.named = b.n};
    words_split(&over, w->v[2], ' ');
    for (size_t i = 0; i < over.n && !code; i++) {
        const struct set *s = expand_find(r, over.v[i], strlen(over.v[i]));
        if (s && b.n < VARS)
            b.set[b.n++] = s;
        else
            code = expand_wrong(r, "no set", over.v[i]);
    }
    words_free(&over);
    reach.all = b.n;
    return code ? code : expand_each(r, &b, 0, reach.named, w, add_body, &reach);
}

/* ---- the file ---- */

static int read_line(struct reading *r, const char *line)
{
    struct words w;
    int code;
    if (!line[strspn(line, " \t")] || *line == '#')
        return GS_OK;
    words_split(&w, line, '|');
    if (!strcmp(w.v[0], "set"))
        code = expand_set(r, &w);
    else
        code = !strcmp(w.v[0], "rows") ? read_rows(r, &w) : read_macro(r, &w);
    words_free(&w);
    return code;
}

int definitions_read(struct definitions *d, const char *path, struct shelf *shelf)
{
    struct reading r = {.d = d, .shelf = shelf};
    struct text t = {0};
    int code = GS_OK;
    *d = (struct definitions){.path = xstrdup(path)};
    if (!text_read_file(path, &t))
        return fail_at(GS_USAGE, path, 0, "%s", strerror(errno));
    for (char *line = t.s, *end; line && *line && !code; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        r.line++;
        code = read_line(&r, line);
    }
    expand_free(&r);
    text_free(&t);
    return code;
}

const char *definitions_nearest(const struct definitions *d, const char *word)
{
    const char **names = xcalloc(d->n + 1, sizeof *names);
    for (size_t i = 0; i < d->n; i++)
        names[i] = d->v[i].field[DEF_NAME];
    const char *near = text_nearest(word, names, d->n);
    free(names);
    return near;
}

void definitions_free(struct definitions *d)
{
    for (size_t i = 0; i < d->n; i++)
        for (size_t f = 0; f < DEF_FIELDS; f++)
            free(d->v[i].field[f]);
    for (size_t i = 0; i < d->n_bodies; i++) {
        free(d->bodies[i].name);
        free(d->bodies[i].text);
    }
    free(d->bodies);
    free(d->v);
    free(d->path);
    *d = (struct definitions){0};
}
