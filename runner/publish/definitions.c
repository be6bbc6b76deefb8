/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/definitions.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- format ---- */

#define MINUS "\u2212"
#define SPACE "\u00a0" /* no line ends between a number and its unit */

struct step {
    double least, factor; /* for values from `least` on */
    const char *unit;
};
static const struct step seconds[] = {
    {86400, 86400, "days"},  {36000, 3600, "h"},           {600, 60, "min"}, {0.9995, 1, "s"},
    {0.9995e-3, 1e-3, "ms"}, {0.9995e-6, 1e-6, "\u00b5s"}, {0, 1e-9, "ns"}};
static const struct step rates[] = {{0.9995e12, 1e12, "TB/s"},
                                    {0.9995e9, 1e9, "GB/s"},
                                    {0.9995e6, 1e6, "MB/s"},
                                    {0.9995e3, 1e3, "kB/s"},
                                    {0, 1, "B/s"}};
static const struct step bit_rates[] = {
    {0.9995e9 / 8, 1e9 / 8, "Gbit/s"}, {0.9995e6 / 8, 1e6 / 8, "Mbit/s"}, {0, 0.125, "bit/s"}};
static const struct step bits[] = {
    {0.9995e9, 1e9, "Gbit/s"}, {0.9995e6, 1e6, "Mbit/s"}, {0, 1, "bit/s"}};
static const struct step binary[] = {
    {1073741824., 1073741824., "GiB"}, {1048576, 1048576, "MiB"}, {1024, 1024, "KiB"}, {0, 1, "B"}};
static const struct step decimal[] = {
    {0.9995e9, 1e9, "GB"}, {0.9995e6, 1e6, "MB"}, {0.9995e3, 1e3, "kB"}, {0, 1, "B"}};
static const struct step thousands[] = {
    {0.9995e9, 1e9, "billion"}, {0.9995e6, 1e6, "million"}, {1e4, 1e3, "thousand"}, {0, 1, ""}};
/* What its unit stands behind: "168 G" of "B/s". */
static const struct step prefixes[] = {{0.9995e12, 1e12, "T"},
                                       {0.9995e9, 1e9, "G"},
                                       {0.9995e6, 1e6, "M"},
                                       {1e4, 1e3, "k"},
                                       {0, 1, "\u200b"}};
static const struct step percents[] = {{0, 0.01, "%"}};
static const struct step plain[] = {{0, 1, ""}};

/* least: 0 steps end every list, so that no value is without one. */
struct form {
    const char *name;
    const struct step *steps; /* NULL: text */
    int digits;               /* significant ones, where no interval says more; -1: see `fixed` */
    int fixed;                /* after the point */
    double from;              /* the value that is shown as nothing: 1 of a ratio's change */
    bool sign;
};
static const struct form forms[] = {
    {.name = "text"},
    {"integer", plain, -1, 0, 0, false},
    {"number", plain, 3, 0, 0, false},
    {"ratio", plain, -1, 3, 0, false},
    {"times", plain, -1, 2, 0, false},
    {"percent", percents, -1, 1, 0, false},
    {"change", percents, -1, 1, 1, true},
    {"time", seconds, 3, 0, 0, false},
    {"rate", rates, 3, 0, 0, false},
    {"bitrate", bit_rates, 3, 0, 0, false},
    {"bits", bits, 3, 0, 0, false},
    {"size", binary, 3, 0, 0, false},
    {"bytes", decimal, 3, 0, 0, false},
    {"count", thousands, 3, 0, 0, false},
    {"prefix", prefixes, 3, 0, 0, false},
};

const struct form *form_find(const char *name)
{
    for (size_t i = 0; i < COUNT(forms); i++)
        if (!strcmp(forms[i].name, name))
            return &forms[i];
    return NULL;
}

const char *form_nearest(const char *name)
{
    return NEAREST(name, forms, COUNT(forms), name);
}

char *form_names(void)
{
    struct text t = {0};
    for (size_t i = 0; i < COUNT(forms); i++)
        text_addf(&t, "%s%s", i ? ", " : "", forms[i].name);
    return t.s;
}

bool form_is_text(const struct form *f)
{
    return !f->steps;
}

/* ---- numbers ---- */

static const struct step *step_of(const struct form *f, double v)
{
    const struct step *s = f->steps;
    while (s->least > 0 && fabs(v) < s->least)
        s++;
    return s;
}

/* Digits after the point: so many significant ones, none of a whole number, one more where the
 * interval is so narrow that its ends would read the same. */
static int decimals(const struct form *f, const double *x, size_t n)
{
    double scale = fabs(x[0]) > 0 ? floor(log10(fabs(x[0])) + 1e-9) : 0;
    int places = f->digits < 0 ? f->fixed : (int)fmax(0, f->digits - 1 - scale);
    if (f->digits > 0 && n == 1 && fabs(x[0] - round(x[0])) < 1e-12)
        places = 0;
    if (n == 3 && fabs(x[2] - x[1]) < 2 * pow(10, -places))
        places++;
    return places;
}

static void add_number(struct text *t, const struct form *f, double x, int places)
{
    double shown = round(x * pow(10, places)) / pow(10, places);
    const char *sign = shown < 0 ? MINUS : f->sign && shown > 0 ? "+" : "";
    text_addf(t, "%s%.*f", sign, places, fabs(shown));
}

char *form_number(const struct form *f, const double *v, size_t n)
{
    const struct step *s = step_of(f, v[0] - f->from);
    struct text t = {0};
    double x[3] = {0};
    for (size_t i = 0; i < n; i++)
        x[i] = (v[i] - f->from) / s->factor;
    int places = decimals(f, x, n);
    text_clear(&t);
    add_number(&t, f, x[0], places);
    if (*s->unit)
        text_addf(&t, "%s%s", strcmp(s->unit, "%") != 0 ? SPACE : "", s->unit);
    if (n == 3) {
        text_add(&t, SPACE "[");
        add_number(&t, f, x[1], places);
        text_add(&t, ", ");
        add_number(&t, f, x[2], places);
        text_add(&t, "]");
    }
    return t.s;
}

/* ---- TeX ---- */

static const struct {
    const char *from, *to;
} escapes[] = {
    {"\\", "\\textbackslash{}"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"$", "\\$"},
    {"&", "\\&"},
    {"#", "\\#"},
    {"%", "\\%"},
    {"_", "\\_"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"<", "\\textless{}"},
    {">", "\\textgreater{}"},
    {"\"", "\\textquotedbl{}"},
    {"|", "\\textbar{}"},
    {MINUS, "$-$"},
    {SPACE, "~"},
    {"\u200b", ""},
    {"\u00b5", "\\textmu{}"},
    {"\u00d7", "\\texttimes{}"},
    {"\u2013", "--"},
    {"\u2026", "\\dots{}"},
    {"/", "\\slash{}"},
};

char *form_tex(const char *text)
{
    struct text t = {0};
    text_clear(&t);
    while (*text) {
        size_t i = 0;
        while (i < COUNT(escapes) && strncmp(text, escapes[i].from, strlen(escapes[i].from)))
            i++;
        bool known = i < COUNT(escapes);
        text_addn(&t, known ? escapes[i].to : text, known ? strlen(escapes[i].to) : 1);
        text += known ? strlen(escapes[i].from) : 1;
    }
    return t.s;
}

/* ---- expand ----
 *
 * The variables <VAR> of the definitions: their values, and texts with the values filled
 * in.
 */

#define VARS 8 /* in one name */

struct set {
    char *name;
    struct words values;
};

struct reading {
    struct paper_tables *tables;
    struct sql_source at; /* the line that is being read */
    struct set *sets;
    size_t n_sets;
};

/* The variables of a definition, and their present values. */
struct bound {
    const struct set *set[VARS];
    const char *value[VARS];
    size_t n;
};

/* Calls `each` for every combination of the variables from `depth` to before `end`; the last one
 * changes fastest. The first code that is not GS_OK ends it and is returned. */
typedef int expand_visit(const struct reading *r, const struct bound *b, void *ctx);

/* "FILE:LINE: WHAT 'WORD'; …"; returns GS_USAGE. */
static int expand_wrong(const struct reading *r, const char *what, const char *word)
{
    return fail_at(GS_USAGE, r->at.file, r->at.line,
                   "%s '%s'; runner/publish/definitions.h says what a line may be", what, word);
}

/* or NULL */
static const struct set *expand_find(const struct reading *r, const char *name, size_t n)
{
    for (size_t i = 0; i < r->n_sets; i++)
        if (strlen(r->sets[i].name) == n && !strncmp(r->sets[i].name, name, n))
            return &r->sets[i];
    return NULL;
}

/* ---- sets ---- */

/* The values of the first column, each once. NULL is no value. */
static int query_set(const struct reading *r, struct words *values, const char *query)
{
    const struct grid *g;
    AUTO(sql_result_free) struct sql_result found = {0};
    struct sql_parts parts;
    int code = sql_split(&parts, query, r->at);
    if (!code && parts.from)
        code = sql_use(r->tables, &parts, &g);
    AUTO_FREE char *ordered = xstrfmt("%s%s", query, code || *parts.order ? "" : " ORDER BY rowid");
    r->tables->refused = true;
    TRY(code, sql_run(r->tables, &found, ordered, NULL, r->at));
    r->tables->refused = false;
    for (size_t i = 0; i < found.rows * found.columns; i += found.columns)
        if (*found.cells.v[i].text)
            words_add_once(values, found.cells.v[i].text);
    return code;
}

/* Adds a set with the values of "A, B" or of a query. GS_OK or reported. */
static int expand_set(struct reading *r, const char *name, const char *values)
{
    struct set *s = &APPEND(r->sets, r->n_sets);
    *s = (struct set){.name = xstrdup(name)};
    if (!strncasecmp(values, "SELECT ", strlen("SELECT ")))
        return query_set(r, &s->values, values);
    words_split(&s->values, values, ',');
    return GS_OK;
}

static void expand_free(struct reading *r)
{
    for (size_t i = 0; i < r->n_sets; i++) {
        free(r->sets[i].name);
        words_free(&r->sets[i].values);
    }
    free(r->sets);
    r->sets = NULL;
    r->n_sets = 0;
}

/* ---- variables ---- */

/* "<p>" that `s` begins with: its length, or 0. */
static size_t variable_at(const char *s)
{
    size_t n = *s == '<' ? strcspn(s, "> ") : 0;
    return n > 1 && s[n] == '>' ? n + 1 : 0;
}

/* Adds the variables of a text to the bound ones. GS_OK or reported: a variable has no set. */
static int expand_bind(const struct reading *r, struct bound *b, const char *text)
{
    for (const char *s = text; *s; s++) {
        size_t n = variable_at(s);
        const struct set *set = n ? expand_find(r, s + 1, n - 2) : NULL;
        bool known = false;
        for (size_t i = 0; i < b->n; i++)
            known = known || b->set[i] == set;
        if (n && (!set || b->n == VARS))
            return expand_wrong(r, set ? "too many variables in" : "no set for a variable of",
                                text);
        if (n && !known)
            b->set[b->n++] = set;
    }
    return GS_OK;
}

static const char *bound_value(const struct bound *b, const char *name, size_t n)
{
    for (size_t i = 0; i < b->n; i++)
        if (strlen(b->set[i]->name) == n && !strncmp(b->set[i]->name, name, n))
            return b->value[i];
    return NULL;
}

/* The text with its variables replaced; the caller frees it. NULL, reported: one is not bound. */
static char *expand_text(const struct reading *r, const struct bound *b, const char *text)
{
    struct text t = {0};
    text_clear(&t);
    for (const char *s = text; *s;) {
        size_t n = variable_at(s);
        const char *value = n ? bound_value(b, s + 1, n - 2) : NULL;
        if (n && !value) {
            expand_wrong(r, "a variable that is not in the name, in", text);
            text_free(&t);
            return NULL;
        }
        text_addn(&t, value ? value : s, value ? strlen(value) : 1);
        s += n ? n : 1;
    }
    return t.s;
}

static int expand_each(const struct reading *r, struct bound *b, size_t depth, size_t end,
                       expand_visit *each, void *ctx)
{
    int code = GS_OK;
    if (depth == end)
        return each(r, b, ctx);
    for (size_t i = 0; i < b->set[depth]->values.n && !code; i++) {
        b->value[depth] = b->set[depth]->values.v[i];
        code = expand_each(r, b, depth + 1, end, each, ctx);
    }
    return code;
}

/* ---- define ---- */

const struct macro *definitions_find(const struct definitions *d, const char *name)
{
    const json_t *place = json_object_get(d->places, name);
    return place ? &d->v[json_integer_value(place)] : NULL;
}

static void free_macro(struct macro *m)
{
    free(m->name);
    free(m->form);
    free(m->otherwise);
    free(m->query);
}

/* ---- numbers ---- */

/* A line before its variables have values. */
struct template
{
    struct definitions *d;
    struct macro macro;
};

static int add_macro(const struct reading *r, const struct bound *b, void *ctx)
{
    const struct template *t = ctx;
    const char *otherwise = t->macro.otherwise;
    struct macro m = {.line = r->at.line};
    m.name = expand_text(r, b, t->macro.name);
    m.form = m.name ? expand_text(r, b, t->macro.form) : NULL;
    m.query = m.form ? expand_text(r, b, t->macro.query) : NULL;
    m.otherwise = m.query && otherwise ? expand_text(r, b, otherwise) : NULL;
    int code = m.query && !m.otherwise == !otherwise ? GS_OK : GS_USAGE;
    if (!code && definitions_find(t->d, m.name))
        code = expand_wrong(r, "a second definition of", m.name);
    if (code) {
        free_macro(&m);
        return code;
    }
    t->d->places = t->d->places ? t->d->places : json_object();
    json_object_set_new(t->d->places, m.name, json_integer((json_int_t)t->d->n));
    APPEND(t->d->v, t->d->n) = m;
    return GS_OK;
}

/* "FORM: SELECT …" or "FORM else TEXT: SELECT …" */
static bool split_macro(struct macro *m, char *text)
{
    char *query = strcasestr(text, ": SELECT "), *otherwise;
    if (!query)
        return false;
    *query = '\0';
    m->query = query + 2;
    m->form = text;
    otherwise = strstr(text, " else ");
    if (otherwise) {
        *otherwise = '\0';
        m->otherwise = otherwise + strlen(" else ");
    }
    return true;
}

static int read_macro(struct reading *r, struct definitions *d, char *name, char *text)
{
    struct bound b = {0};
    struct template t = {d, {.name = name}};
    if (!split_macro(&t.macro, text))
        return expand_wrong(r, "no 'FORM: SELECT …' in the definition of", name);
    int code = expand_bind(r, &b, name);
    return code ? code : expand_each(r, &b, 0, b.n, add_macro, &t);
}

int definitions_add(struct definitions *d, const char *name, const char *text)
{
    struct reading r = {.at.file = "command line"};
    AUTO_FREE char *copy = xstrdup(text), *n = xstrdup(name);
    return read_macro(&r, d, n, copy);
}

/* ---- bodies of tables ---- */

struct rows {
    struct definitions *d;
    const char *name, *line;
    size_t named, all; /* variables of the name come first, then those that the text runs over */
    struct text text;
};

static int add_line(const struct reading *r, const struct bound *b, void *ctx)
{
    struct rows *rows = ctx;
    AUTO_FREE char *line = expand_text(r, b, rows->line);
    if (line)
        text_addf(&rows->text, "%s\n", line);
    return line ? GS_OK : GS_USAGE;
}

static int add_body(const struct reading *r, const struct bound *named, void *ctx)
{
    struct bound b = *named;
    struct rows *rows = ctx;
    struct definitions *d = rows->d;
    rows->text = (struct text){0};
    text_add(&rows->text, "");
    int code = expand_each(r, &b, rows->named, rows->all, add_line, rows);
    APPEND(d->bodies, d->n_bodies) = (struct body){expand_text(r, &b, rows->name), rows->text.s};
    return code;
}

/* head: "NAME over VAR VAR" */
static int read_rows(struct reading *r, struct definitions *d, const char *head, const char *text)
{
    struct bound b = {0};
    AUTO_WORDS struct words w = {0};
    words_split(&w, head, ' ');
    struct rows rows = {.d = d, .name = w.n ? w.v[0] : "", .line = text};
    int code = w.n > 2 && !strcmp(w.v[1], "over")
                   ? expand_bind(r, &b, rows.name)
                   : expand_wrong(r, "no 'rows NAME over VAR' in", head);
    rows.named = b.n;
    for (size_t i = 2; i < w.n && !code; i++) {
        const struct set *s = expand_find(r, w.v[i], strlen(w.v[i]));
        if (s && b.n < VARS)
            b.set[b.n++] = s;
        else
            code = expand_wrong(r, "no set", w.v[i]);
    }
    rows.all = b.n;
    return code ? code : expand_each(r, &b, 0, rows.named, add_body, &rows);
}

/* ---- the file ---- */

static char *trim(char *s)
{
    s += strspn(s, " \t");
    size_t n = strlen(s);
    while (n && strchr(" \t\r", s[n - 1]))
        n--;
    s[n] = '\0';
    return s;
}

static int read_line(struct reading *r, struct definitions *d, char *line)
{
    line = trim(line);
    if (!*line || *line == '#')
        return GS_OK;
    char *equals = strstr(line, " = ");
    if (!equals)
        return expand_wrong(r, "no ' = ' in", line);
    *equals = '\0';
    char *left = trim(line), *right = trim(equals + strlen(" = "));
    if (!strncmp(left, "set ", 4))
        return expand_set(r, trim(left + 4), right);
    if (!strncmp(left, "rows ", 5))
        return read_rows(r, d, trim(left + 5), right);
    return read_macro(r, d, left, right);
}

int definitions_read(struct definitions *d, const char *path, struct paper_tables *tables)
{
    AUTO_TEXT struct text t = {0};
    int code = GS_OK;
    *d = (struct definitions){.path = xstrdup(path)};
    struct reading r = {.tables = tables, .at.file = d->path};
    if (!files_read(path, FILES_ANY, FILES_WHOLE_MAX, &t))
        return fail_at(GS_USAGE, path, 0, "%s; --macros names the file of definitions",
                       files_why(errno));
    for (char *line = t.s, *end; line && *line && !code; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        r.at.line++;
        code = read_line(&r, d, line);
    }
    expand_free(&r);
    return code;
}

const char *definitions_nearest(const struct definitions *d, const char *word)
{
    return NEAREST(word, d->v, d->n, name);
}

void definitions_free(struct definitions *d)
{
    for (size_t i = 0; i < d->n; i++)
        free_macro(&d->v[i]);
    for (size_t i = 0; i < d->n_bodies; i++) {
        free(d->bodies[i].name);
        free(d->bodies[i].text);
    }
    json_decref(d->places);
    free(d->bodies);
    free(d->v);
    free(d->path);
    *d = (struct definitions){0};
}
