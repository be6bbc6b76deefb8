/* SPDX-License-Identifier: Apache-2.0 */
#include "store/tex.h"

#include "base/err.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUS "\u2212"
#define SPACE "\u00a0" /* no line ends between a number and its unit */

struct step {
    double least, factor; /* for values from `least` on */
    const char *unit;
};
static const struct step seconds[] = {
    {86400, 86400, "days"},  {36000, 3600, "h"},           {600, 60, "min"}, {0.9995, 1, "s"},
    {0.9995e-3, 1e-3, "ms"}, {0.9995e-6, 1e-6, "\u00b5s"}, {0, 1e-9, "ns"}};
static const struct step bits[] = {
    {0.9995e9, 1e9, "Gbit/s"}, {0.9995e6, 1e6, "Mbit/s"}, {0, 1, "bit/s"}};
static const struct step binary[] = {
    {1073741824., 1073741824., "GiB"}, {1048576, 1048576, "MiB"}, {1024, 1024, "KiB"}, {0, 1, "B"}};
static const struct step percents[] = {{0, 0.01, "%"}};
static const struct step plain[] = {{0, 1, ""}};

static const struct form {
    const char *name;
    const struct step *steps; /* the last one has least 0; NULL: text */
    int digits;               /* significant ones, where no interval says more; -1: see `fixed` */
    int fixed;                /* after the point */
    double from;              /* the value that is shown as nothing: 1 of a ratio's change */
    bool sign;
} forms[] = {
    {.name = "text"},
    {.name = "rows"},
    {"integer", plain, -1, 0, 0, false},
    {"ratio", plain, -1, 3, 0, false},
    {"times", plain, -1, 2, 0, false},
    {"percent", percents, -1, 1, 0, false},
    {"change", percents, -1, 1, 1, true},
    {"time", seconds, 3, 0, 0, false},
    {"bits", bits, 3, 0, 0, false},
    {"size", binary, 3, 0, 0, false},
};

static void add_number(struct text *t, const struct form *f, double x, int places)
{
    double shown = round(x * pow(10, places)) / pow(10, places);
    const char *sign = shown < 0 ? MINUS : f->sign && shown > 0 ? "+" : "";
    text_addf(t, "%s%.*f", sign, places, fabs(shown));
}

/* "841 µs [840, 842]" of v[0], v[1] and v[2], or of v[0] alone. A whole number has no digits after the
 * point; where the interval is so narrow that its ends would read the same, there is one digit more. */
static void add_value(struct text *t, const struct form *f, const double *v, int n)
{
    const struct step *s = f->steps;
    double x[3] = {0};
    while (s->least > 0 && fabs(v[0] - f->from) < s->least)
        s++;
    for (int i = 0; i < n; i++)
        x[i] = (v[i] - f->from) / s->factor;
    double scale = fabs(x[0]) > 0 ? floor(log10(fabs(x[0])) + 1e-9) : 0;
    int places = f->digits < 0 ? f->fixed : (int)fmax(0, f->digits - 1 - scale);
    if (f->digits > 0 && n == 1 && fabs(x[0] - round(x[0])) < 1e-12)
        places = 0;
    if (n == 3 && fabs(x[2] - x[1]) < 2 * pow(10, -places))
        places++;
    add_number(t, f, x[0], places);
    if (*s->unit)
        text_addf(t, "%s%s", strcmp(s->unit, "%") != 0 ? SPACE : "", s->unit);
    if (n == 3) {
        text_add(t, SPACE "[");
        add_number(t, f, x[1], places);
        text_add(t, ", ");
        add_number(t, f, x[2], places);
        text_add(t, "]");
    }
}

static void put_tex(const char *text)
{
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
    while (*text) {
        size_t i = 0;
        while (i < COUNT(escapes) && strncmp(text, escapes[i].from, strlen(escapes[i].from)))
            i++;
        if (i < COUNT(escapes))
            fputs(escapes[i].to, stdout);
        else
            putchar(*text);
        text += i < COUNT(escapes) ? strlen(escapes[i].from) : 1;
    }
}

enum { NAME, FORM, VALUE, LOW, HIGH, OTHERWISE, COLUMNS };

static int put_row(sqlite3_stmt *st)
{
    const char *name = store_text(st, NAME), *form = store_text(st, FORM);
    const struct form *f = forms;
    AUTO_TEXT struct text printed = {0};
    while (f < forms + COUNT(forms) && strcmp(f->name, form))
        f++;
    if (f == forms + COUNT(forms))
        return fail(GS_USAGE,
                    "query: '%s' has the form '%s'; the forms are text, integer, ratio, times, "
                    "percent, change, time, bits, size and rows",
                    name, form);
    bool rows = !strcmp(form, "rows"), given = sqlite3_column_type(st, VALUE) != SQLITE_NULL;
    int value = given ? VALUE : OTHERWISE; /* a column that is not there is NULL */
    if (sqlite3_column_type(st, value) == SQLITE_NULL)
        return fail(GS_FAILED, "query: '%s' has no value: the recordings lack it", name);
    printf("\\expandafter\\def\\csname gs@%s@%s\\endcsname{", rows ? "rows" : "v", name);
    if (given && f->steps) {
        const double v[3] = {store_real(st, VALUE), store_real(st, LOW), store_real(st, HIGH)};
        add_value(&printed, f, v, isnan(v[1]) ? 1 : 3);
        put_tex(printed.s);
    } else if (given && !rows) {
        put_tex(store_text(st, VALUE));
    } else {
        fputs(store_text(st, value), stdout);
    }
    puts("}");
    return GS_OK;
}

int tex_print(struct store *s, const char *sql)
{
    int code = GS_OK, step = SQLITE_DONE;
    while (!code && sql[strspn(sql, " ;\n\t")]) {
        sqlite3_stmt *st = NULL;
        if (sqlite3_prepare_v2(s->db, sql, -1, &st, &sql))
            return store_failed(s);
        if (!st) /* a comment at the end */
            break;
        if (!sqlite3_stmt_readonly(st) || sqlite3_column_count(st) <= VALUE)
            code = fail(GS_USAGE, "query: --format tex takes SELECTs of the columns name, form, "
                                  "value, low, high, otherwise: at least three");
        while (!code && (step = sqlite3_step(st)) == SQLITE_ROW)
            code = put_row(st);
        if (!code && step != SQLITE_DONE)
            code = store_failed(s);
        sqlite3_finalize(st);
    }
    return code;
}
