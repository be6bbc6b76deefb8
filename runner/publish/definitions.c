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
static const struct step bits[] = {
    {0.9995e9, 1e9, "Gbit/s"}, {0.9995e6, 1e6, "Mbit/s"}, {0, 1, "bit/s"}};
static const struct step binary[] = {
    {1073741824., 1073741824., "GiB"}, {1048576, 1048576, "MiB"}, {1024, 1024, "KiB"}, {0, 1, "B"}};
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
    {"bits", bits, 3, 0, 0, false},
    {"size", binary, 3, 0, 0, false},
};

const struct form *form_find(const char *name, struct sql_source at)
{
    AUTO_TEXT struct text all = {0};
    for (size_t i = 0; i < COUNT(forms); i++) {
        if (!strcmp(forms[i].name, name))
            return &forms[i];
        text_addf(&all, "%s%s", i ? ", " : "", forms[i].name);
    }
    const char *near = NEAREST(name, forms, COUNT(forms), name);
    fail_at(GS_USAGE, at.file, at.line, "no form '%s'%s; the forms are %s", name,
            DID_YOU_MEAN(near), all.s);
    return NULL;
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

/* ---- sets ---- */

#define VARS 8 /* in one name */

struct set {
    char *name;
    struct words values;
};

struct reading {
    struct definitions *d;
    struct paper_tables *tables;
    struct sql_source at; /* the line that is being read */
    struct set *sets;
    size_t n_sets;
};

/* "FILE:LINE: WHAT 'WORD'; …"; returns GS_USAGE. */
static int wrong(const struct reading *r, const char *what, const char *word)
{
    return fail_at(GS_USAGE, r->at.file, r->at.line,
                   "%s '%s'; runner/publish/definitions.h says what a line may be", what, word);
}

/* or NULL */
static const struct set *find_set(const struct reading *r, const char *name, size_t n)
{
    for (size_t i = 0; i < r->n_sets; i++)
        if (strlen(r->sets[i].name) == n && !strncmp(r->sets[i].name, name, n))
            return &r->sets[i];
    return NULL;
}

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
    TRY(code, sql_run(r->tables, &found, ordered, r->at));
    r->tables->refused = false;
    for (size_t i = 0; i < found.rows * found.columns; i += found.columns)
        if (*found.cells.v[i])
            words_add_once(values, found.cells.v[i]);
    return code;
}

/* Adds a set with the values of "A, B" or of a query. GS_OK or reported. */
static int add_set(struct reading *r, const char *name, const char *values)
{
    struct set *s = &APPEND(r->sets, r->n_sets);
    *s = (struct set){.name = xstrdup(name)};
    if (!strncasecmp(values, "SELECT ", strlen("SELECT ")))
        return query_set(r, &s->values, values);
    words_split(&s->values, values, ',');
    return GS_OK;
}

static void free_sets(struct reading *r)
{
    for (size_t i = 0; i < r->n_sets; i++) {
        free(r->sets[i].name);
        words_free(&r->sets[i].values);
    }
    free(r->sets);
}

/* ---- variables ---- */

/* "<p>" that `s` begins with: its length, or 0. */
static size_t variable_at(const char *s)
{
    size_t n = *s == '<' ? strcspn(s, "> ") : 0;
    return n > 1 && s[n] == '>' ? n + 1 : 0;
}

/* The first variable of a text; NULL: it has none. */
static const char *first_variable(const char *s)
{
    while (*s && !variable_at(s))
        s++;
    return *s ? s : NULL;
}

/* The text with the value in place of a variable of n bytes, "<p>"; the caller frees it. */
static char *with_value(const char *text, const char *variable, size_t n, const char *value)
{
    struct text t = {0};
    text_clear(&t);
    while (*text) {
        bool at = !strncmp(text, variable, n);
        text_addn(&t, at ? value : text, at ? strlen(value) : 1);
        text += at ? n : 1;
    }
    return t.s;
}

/* Calls `define` for every combination of the variables in `name`, with their values in both texts; the
 * last variable changes fastest. GS_OK or reported. */
static int expand(struct reading *r, const char *name, const char *text, int depth,
                  int (*define)(struct reading *r, const char *name, const char *text))
{
    const char *variable = first_variable(name);
    size_t n = variable ? variable_at(variable) : 0;
    const struct set *set = n ? find_set(r, variable + 1, n - 2) : NULL;
    if (!variable)
        return define(r, name, text);
    if (!set || depth == VARS)
        return wrong(r, set ? "too many variables in" : "no set for a variable of", name);
    for (size_t i = 0; i < set->values.n; i++) {
        AUTO_FREE char *a = with_value(name, variable, n, set->values.v[i]);
        AUTO_FREE char *b = with_value(text, variable, n, set->values.v[i]);
        CHECK(expand(r, a, b, depth + 1, define));
    }
    return GS_OK;
}

static int not_in_name(const struct reading *r, const char *text)
{
    return first_variable(text) ? wrong(r, "a variable that is not in the name, in", text) : GS_OK;
}

/* ---- numbers ---- */

const struct macro *definitions_find(const struct definitions *d, const char *name)
{
    const json_t *place = json_object_get(d->places, name);
    return place ? &d->v[json_integer_value(place)] : NULL;
}

/* text: "FORM: SELECT …" or "FORM else TEXT: SELECT …" */
static int add_macro(struct reading *r, const char *name, const char *text)
{
    struct definitions *d = r->d;
    const char *query = strcasestr(text, ": SELECT "), *otherwise = strstr(text, " else ");
    if (!query)
        return wrong(r, "no 'FORM: SELECT …' in the definition of", name);
    CHECK(not_in_name(r, text));
    if (definitions_find(d, name))
        return wrong(r, "a second definition of", name);
    otherwise = otherwise && otherwise < query ? otherwise : NULL;
    struct macro m = {.name = xstrdup(name), .query = xstrdup(query + 2), .line = r->at.line};
    m.form = xstrfmt("%.*s", (int)((otherwise ? otherwise : query) - text), text);
    if (otherwise) {
        otherwise += strlen(" else ");
        m.otherwise = xstrfmt("%.*s", (int)(query - otherwise), otherwise);
    }
    d->places = d->places ? d->places : json_object();
    json_object_set_new(d->places, name, json_integer((json_int_t)d->n));
    APPEND(d->v, d->n) = m;
    return GS_OK;
}

int definitions_add(struct definitions *d, const char *name, const char *text)
{
    struct reading r = {.d = d, .at.file = "command line"};
    return add_macro(&r, name, text);
}

/* ---- bodies of tables ---- */

/* Adds the line with every combination of the variables over[at] and those behind it. */
static int add_lines(const struct reading *r, struct text *t, const char *line,
                     const struct words *over, size_t at)
{
    if (at == over->n) {
        CHECK(not_in_name(r, line));
        text_addf(t, "%s\n", line);
        return GS_OK;
    }
    const struct set *set = find_set(r, over->v[at], strlen(over->v[at]));
    AUTO_FREE char *variable = xstrfmt("<%s>", over->v[at]);
    if (!set || at == VARS)
        return wrong(r, "no set", over->v[at]);
    for (size_t i = 0; i < set->values.n; i++) {
        AUTO_FREE char *next = with_value(line, variable, strlen(variable), set->values.v[i]);
        CHECK(add_lines(r, t, next, over, at + 1));
    }
    return GS_OK;
}

/* head: "NAME over VAR VAR" */
static int add_body(struct reading *r, const char *head, const char *text)
{
    struct definitions *d = r->d;
    AUTO_WORDS struct words w = {0};
    words_split(&w, head, ' ');
    if (w.n < 3 || strcmp(w.v[1], "over") != 0)
        return wrong(r, "no 'rows NAME over VAR' in", head);
    struct body *b = &APPEND(d->bodies, d->n_bodies);
    struct text lines = {0};
    text_clear(&lines);
    int code = add_lines(r, &lines, text, &w, 2);
    *b = (struct body){xstrdup(w.v[0]), lines.s};
    return code;
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

static int read_line(struct reading *r, char *line)
{
    line = trim(line);
    if (!*line || *line == '#')
        return GS_OK;
    char *equals = strstr(line, " = ");
    if (!equals)
        return wrong(r, "no ' = ' in", line);
    *equals = '\0';
    char *left = trim(line), *right = trim(equals + strlen(" = "));
    if (!strncmp(left, "set ", 4))
        return add_set(r, trim(left + 4), right);
    if (!strncmp(left, "rows ", 5))
        return expand(r, trim(left + 5), right, 0, add_body);
    return expand(r, left, right, 0, add_macro);
}

int definitions_read(struct definitions *d, const char *path, struct paper_tables *tables)
{
    AUTO_TEXT struct text t = {0};
    *d = (struct definitions){.path = xstrdup(path)};
    AUTO(free_sets) struct reading r = {.d = d, .tables = tables, .at.file = d->path};
    if (!files_read(path, FILES_ANY, FILES_WHOLE_MAX, &t))
        return fail_at(GS_USAGE, path, 0,
                       "%s; call this in the folder of gradsync, or name the file of "
                       "definitions (--macros)",
                       files_why(errno));
    for (char *rest = t.s, *line; (line = strsep(&rest, "\n"));) {
        r.at.line++;
        CHECK(read_line(&r, line));
    }
    return GS_OK;
}

const char *definitions_nearest(const struct definitions *d, const char *word)
{
    return NEAREST(word, d->v, d->n, name);
}

void definitions_free(struct definitions *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->v[i].name);
        free(d->v[i].form);
        free(d->v[i].otherwise);
        free(d->v[i].query);
    }
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
