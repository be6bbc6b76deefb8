/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/format.h"

#include "base/text.h"

#include <math.h>
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
