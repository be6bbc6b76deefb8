/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/watch_lines.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define GROUPS 24
#define UNITS 4
#define NESTED 8        /* lengths of bars that are known to be of evaluation */
#define LATE 3          /* steps by which a rank may print later than others */
#define SHORT_BAR 20    /* a finished bar of fewer steps than this may have been of loading */
#define RATE_MAX 1e15   /* tokens/s; more is no rate */
#define STEP_MIN_S 1e-9 /* seconds */
#define STEP_MAX_S 1e7

extern const char watch_table[];
__asm__(".pushsection .rodata\n.global watch_table\nwatch_table:\n.incbin "
        "\"runner/wan/watch.table\"\n.byte 0\n"
        ".popsection");

/* The regular expressions of this file. */
enum own { BAR, OTHER, STEP, HEADING, MICRO, OPTIMIZER, OF_DEVICE, OWNS };
static const char *const own_text[OWNS] = {
    /* A progress bar: how many of how many, and its speed. */
    [BAR] = "([0-9]+)/([0-9]+) +(\\[[^]]*[, ]|[0-9]+:[0-9:]+[^a-z]* ) *([0-9][0-9.]*) ?(s/it|it/s)",
    /* Its label, if it is none of training steps. */
    [OTHER] = "eval|valid|test|load|map|token|generat|predict|sanity|shard|fetch|filter|quantiz|"
              "inference",
    [STEP] = "(^|[^a-z_/])(global[_ ]?|train[_ ]?|current[_ ]?|completed "
             ")?(step|iteration|iter|batch|update)s?"
             "[\"']?[ :=[#(]+[\"']?([0-9][0-9,]*)([^0-9.]|\\.[^0-9]|\\.?$)",
    /* A line that is nothing but the number of the step of the lines below it. */
    [HEADING] = "^[^a-z0-9]*(step|iteration|iter|batch)[ =:#]+([0-9]+)(/[0-9]+)?[^a-z0-9]*$",
    /* Two counters in a line: of micro-batches, and of the optimizer's steps. */
    [MICRO] = "(^|[^a-z_])(iter|iteration|micro[_ -]?(step|batch))[ =:#]+([0-9]+)",
    [OPTIMIZER] = "(^|[^a-z_])((global|optimizer|opt)[_ ]?)?step[ =:#]+([0-9]+)",
    [OF_DEVICE] = "(per[ _-]|each |/ ?)(gpu|device|chip|rank|worker|card|npu|accelerator)"};
enum { BAR_COUNT = 1, BAR_TOTAL = 2, BAR_NUMBER = 4, BAR_UNIT = 5 };

enum meaning {
    STEP_TIME,
    STEP_BEHIND,
    STEPS_PER_S,
    RATE,
    RATE_OF_GPU,
    ELAPSED,
    STAMP,
    FAULT,
    WARNING
};

static const struct {
    const char *words;
    enum meaning meaning;
} meanings[] = {{"step", STEP_TIME}, {"step per", STEP_BEHIND},         {"steps/s", STEPS_PER_S},
                {"tokens/s", RATE},  {"tokens/s per GPU", RATE_OF_GPU}, {"elapsed", ELAPSED},
                {"stamp", STAMP}};

struct row {
    char *pattern, *means, *example;
    double unit,
        gives; /* seconds of a time without a unit; what comes of the example, 0: nothing */
    const char *file;
    int line;
    enum meaning meaning;
    size_t kind; /* of a fault */
    regex_t regex;
    bool compiled;
    size_t value, units[UNITS], n_units; /* groups; value 0: the first that begins with a digit */
    /* a whole number without a unit may count */
    double last, difference;
    int whole; /* how many such numbers came */
    bool is_time, is_count;
    /* of ELAPSED and STAMP */
    double at_s;
    long long at_step;
};

struct watch_lines {
    struct row *rows;
    size_t n_rows;
    struct words names, texts; /* of define */
    struct words kinds;        /* of faults */
    regex_t own[OWNS];
    bool totals;
    /* the bar of the steps */
    long long bar_total, bar_count, nested[NESTED];
    size_t n_nested;
    bool evaluating, over;
    /* the last step */
    long long last, heading_step;
    bool has_rate, has_time;
    /* micro-batches */
    long long micro_at, micro_step;
    bool micro_edge; /* these are of the end of a step */
};

/* ---- the table ---- */

/* Groups of a regular expression. */
static size_t count_groups(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        if (*s == '\\' && s[1])
            s++;
        else if (*s == '[') {
            s += s[1] == '^' ? 2 : 1;
            s += *s == ']';
            while (*s && *s != ']') {
                const char *class = s[0] == '[' && s[1] == ':' ? strstr(s, ":]") : NULL;
                s = class ? class + 2 : s + 1;
            }
            if (!*s)
                break;
        } else
            n += *s == '(';
    return n;
}

static const char number_text[] = "([0-9][0-9,]*\\.?[0-9]*(e[+-]?[0-9]+)?[kmg]?)";
static const char time_text[] = "([0-9][0-9,]*\\.?[0-9]*(e[+-]?[0-9]+)?k?)";
static const char clock_text[] = "([0-9]+(:[0-9][0-9])+(\\.[0-9]+)?)";
static const char unit_text[] = "(us|msec|ms|milliseconds?|microseconds?|seconds?|secs?|s)";

/* Puts texts in place of {NAME}. Without a row, those of numbers and units stay; with one, their groups are
 * noted. False: there is no such name. */
static bool expand(struct text *out, const struct watch_lines *w, struct row *r, const char *s)
{
    static const struct {
        const char *name, *text;
    } parts[] = {
        {"value", number_text}, {"time", time_text}, {"clock", clock_text}, {"unit", unit_text}};
    text_add(out, "");
    for (size_t n; *s; s += n) {
        n = *s == '{' && !isdigit((unsigned char)s[1]) ? strcspn(s, "}") + 1 : 1;
        if (n == 1 || !s[n - 1]) {
            n = 1;
            text_addn(out, s, n);
            continue;
        }
        AUTO_FREE char *name = xstrfmt("%.*s", (int)n - 2, s + 1);
        size_t of = words_find(&w->names, name), i = 0, group = count_groups(out->s) + 1;
        while (i < COUNT(parts) && strcmp(parts[i].name, name))
            i++;
        if (i == COUNT(parts) && of == w->names.n)
            return false;
        if (i == COUNT(parts))
            text_add(out, w->texts.v[of]);
        else if (r)
            text_add(out, parts[i].text);
        else
            text_addn(out, s, n);
        if (r && i < COUNT(parts) && strcmp(name, "unit"))
            r->value = r->value ? r->value : group;
        else if (r && i < COUNT(parts) && r->n_units < UNITS)
            r->units[r->n_units++] = group;
    }
    return true;
}

static int refuse(const struct row *r, const char *fmt, const char *text)
{
    AUTO_FREE char *why = xstrfmt("%s '%s'", fmt, text);
    return fail_at(GS_USAGE, r->file, r->line, "%s", why);
}

static int finish_row(struct watch_lines *w, struct row *r)
{
    char why[200];
    AUTO_TEXT struct text t = {0};
    const char *means = r->means ? r->means : "";
    bool fault = !strncmp(means, "fault ", 6), warning = !strncmp(means, "warning ", 8),
         known = false;
    if (!r->pattern || !r->means)
        return fail_at(GS_USAGE, r->file, r->line, "a row needs pattern and means");
    for (size_t i = 0; i < COUNT(meanings); i++)
        if (!strcmp(meanings[i].words, means)) {
            r->meaning = meanings[i].meaning;
            known = true;
        }
    if (fault || warning) {
        r->meaning = fault ? FAULT : WARNING;
        r->kind = words_add_once(&w->kinds, means + (fault ? 6 : 8));
    } else if (!known)
        return refuse(
            r,
            "means: must be step, step per, steps/s, tokens/s, tokens/s per GPU, elapsed, "
            "stamp, fault KIND or warning KIND, not",
            means);
    AUTO_TEXT struct text all = {0};
    if (!expand(&t, w, NULL, r->pattern))
        return refuse(r, "pattern: a {NAME} that is not defined above:", r->pattern);
    expand(&all, w, r, t.s);
    int error = regcomp(&r->regex, all.s, REG_EXTENDED | REG_ICASE);
    if (error) {
        regerror(error, &r->regex, why, sizeof why);
        return fail_at(GS_USAGE, r->file, r->line, "pattern '%s': %s", r->pattern, why);
    }
    r->compiled = true;
    if (r->meaning < STAMP && !r->value && !r->regex.re_nsub)
        return refuse(r, "pattern: no {value}, {time}, {clock} or (group) around the number in",
                      r->pattern);
    return r->regex.re_nsub < GROUPS ? GS_OK : refuse(r, "pattern: too many groups in", r->pattern);
}

static int define(struct watch_lines *w, const char *file, int line, char *s)
{
    char *equals = strstr(s, " = ");
    if (!equals)
        return fail_at(GS_USAGE, file, line, "must be: define NAME = TEXT");
    *equals = '\0';
    AUTO_TEXT struct text t = {0};
    for (const char *c = s; *c; c++)
        if (!isupper((unsigned char)*c) && *c != '_')
            return fail_at(GS_USAGE, file, line, "define: '%s': a name has capitals", s);
    if (!expand(&t, w, NULL, equals + 3))
        return fail_at(GS_USAGE, file, line, "define %s: a {NAME} that is not defined above", s);
    words_add(&w->names, s);
    words_add(&w->texts, t.s);
    return GS_OK;
}

static int take_member(struct row *r, const char *file, int line, char *s)
{
    char *equals = strstr(s, " = ");
    double x = 0;
    if (!r)
        return fail_at(GS_USAGE, file, line, "a row begins with [TRAINER]");
    if (!equals)
        return fail_at(GS_USAGE, file, line, "must be: KEY = VALUE");
    *equals = '\0';
    const char *value = equals + 3;
    char **text = !strcmp(s, "pattern")   ? &r->pattern
                  : !strcmp(s, "means")   ? &r->means
                  : !strcmp(s, "example") ? &r->example
                                          : NULL;
    if (text)
        xstrset(text, value);
    else if (!strcmp(s, "unit"))
        r->unit = !strcmp(value, "ms") ? 1e-3 : !strcmp(value, "us") ? 1e-6 : 1;
    else if (!strcmp(s, "gives") && units_parse_real(value, &x) && x > 0)
        r->gives = x;
    else
        return fail_at(GS_USAGE, file, line,
                       "'%s': must be pattern, means, unit, example or gives (a number)", s);
    return GS_OK;
}

static int read_table(struct watch_lines *w, const char *file, const char *text)
{
    AUTO_FREE char *copy = xstrdup(text);
    size_t first = w->n_rows;
    int line = 0, code = GS_OK;
    bool row = false;
    for (char *rest = copy, *s; !code && (s = strsep(&rest, "\n"));) {
        line++;
        s[strcspn(s, "\r")] = '\0';
        if (!*s || *s == '#')
            continue;
        if (*s == '[') {
            APPEND(w->rows, w->n_rows) = (struct row){.file = file, .line = line, .unit = 1};
            row = true;
        } else if (!strncmp(s, "define ", 7))
            code = define(w, file, line, s + 7);
        else
            code = take_member(row ? &w->rows[w->n_rows - 1] : NULL, file, line, s);
    }
    for (size_t i = first; i < w->n_rows && !code; i++)
        code = finish_row(w, &w->rows[i]);
    return code;
}

struct watch_lines *watch_lines_new(const char *file)
{
    struct watch_lines *w = xcalloc(1, sizeof *w);
    for (size_t i = 0; i < OWNS; i++)
        if (regcomp(&w->own[i], own_text[i], REG_EXTENDED | REG_ICASE))
            abort(); /* the unit test compiles all */
    w->last = w->heading_step = w->micro_step = -1;
    AUTO_TEXT struct text rows = {0};
    int code = GS_OK;
    if (file && !files_read(file, FILES_GIVEN, FILES_WHOLE_MAX, &rows))
        code = fail_at(GS_USAGE, file, 0, "cannot be read: %s", files_why(errno));
    TRY(code, read_table(w, file, rows.s ? rows.s : ""));
    TRY(code, read_table(w, "watch.table", watch_table));
    if (!code)
        return w;
    watch_lines_free(w);
    return NULL;
}

void watch_lines_free(struct watch_lines *w)
{
    for (size_t i = 0; i < w->n_rows; i++) {
        if (w->rows[i].compiled)
            regfree(&w->rows[i].regex);
        free(w->rows[i].pattern);
        free(w->rows[i].means);
        free(w->rows[i].example);
    }
    free(w->rows);
    words_free(&w->names);
    words_free(&w->texts);
    words_free(&w->kinds);
    for (size_t i = 0; i < OWNS; i++)
        regfree(&w->own[i]);
    free(w);
}

int watch_lines_try(const char *file)
{
    struct watch_lines *w = watch_lines_new(file);
    int code = w ? GS_OK : GS_USAGE;
    for (size_t i = 0; w && i < w->n_rows && !code; i++) {
        const struct row *r = &w->rows[i];
        struct watch_lines *fresh = r->example ? watch_lines_new(file) : NULL;
        if (!fresh)
            continue;
        bool matches = !regexec(&r->regex, r->example, 0, NULL, 0);
        struct watch_values v = watch_lines_read(fresh, r->example);
        double got = r->meaning == RATE || r->meaning == RATE_OF_GPU ? v.rate : v.step_s;
        if (!matches)
            code = fail_at(GS_USAGE, r->file, r->line, "the pattern does not fit its example");
        else if (r->gives > 0 && !(fabs(got - r->gives) <= 1e-6 * r->gives))
            code = fail_at(GS_USAGE, r->file, r->line, "the example gives %.9g, not %.9g", got,
                           r->gives);
        watch_lines_free(fresh);
    }
    if (w)
        watch_lines_free(w);
    return code;
}

/* ---- numbers ---- */

/* "7,123", "1.5e6", "1.2M"; 0 when there is none. */
static double number(const char *s, size_t n)
{
    char digits[64];
    size_t k = 0;
    double unit = 1;
    for (size_t i = 0; i < n; i++)
        if (s[i] != ',' && k < sizeof digits - 1)
            digits[k++] = s[i];
    if (k == sizeof digits - 1)
        return 0;
    digits[k] = '\0';
    if (k) {
        const char *at = strchr("kmg", tolower((unsigned char)digits[k - 1]));
        unit = at ? pow(1000, (double)(at - "kmg" + 1)) : 1;
    }
    return strtod(digits, NULL) * unit;
}

/* Seconds of the unit that the letters at s are; 0: none. */
static double unit_of(const char *s, size_t n)
{
    static const struct {
        const char *names;
        double s;
    } units[] = {{"us microsecond microseconds", 1e-6},
                 {"ms msec millisecond milliseconds", 1e-3},
                 {"s sec secs second seconds", 1}};
    char word[16] = "";
    for (size_t i = 0; i < n && n < sizeof word; i++)
        word[i] = (char)tolower((unsigned char)s[i]);
    for (size_t i = 0; *word && i < COUNT(units); i++)
        if (text_lists(units[i].names, " ", word))
            return units[i].s;
    return 0;
}

static double unit_in(const char *line, const regmatch_t *m)
{
    return m->rm_so < 0 ? 0 : unit_of(line + m->rm_so, (size_t)(m->rm_eo - m->rm_so));
}

static double value_in(const char *line, const regmatch_t *m)
{
    return m->rm_so < 0 ? 0 : number(line + m->rm_so, (size_t)(m->rm_eo - m->rm_so));
}

/* Digits without leading zeros: how exact it is. */
static int digits_in(const char *line, const regmatch_t *m)
{
    int n = 0;
    for (regoff_t i = m->rm_so; i >= 0 && i < m->rm_eo && !isalpha((unsigned char)line[i]); i++)
        n += isdigit((unsigned char)line[i]) && (n || line[i] != '0');
    return n;
}

/* The first group that begins with a digit. */
static const regmatch_t *first_digits(const char *line, const regmatch_t *m)
{
    for (size_t g = 1; g < GROUPS; g++)
        if (m[g].rm_so >= 0 && isdigit((unsigned char)line[m[g].rm_so]))
            return &m[g];
    return NULL;
}

/* Seconds of "1:02:03.5". */
static double clock_in(const char *line, const regmatch_t *m)
{
    double s = 0;
    for (const char *at = line + m->rm_so, *end = line + m->rm_eo; at < end; at++) {
        char *stop;
        s = 60 * s + strtod(at, &stop);
        at = stop;
    }
    return s;
}

/* Unix seconds of the first "2026-05-01 10:00:15,985" of a line; 0: none. */
static double stamp_in(const char *line)
{
    for (const char *s = line; (s = strpbrk(s, "0123456789")); s += strspn(s, "0123456789")) {
        struct tm t = {0};
        double fraction = 0;
        int n = 0;
        if (sscanf(s, "%4d-%2d-%2d%*1[T ,]%2d:%2d:%2d%n", &t.tm_year, &t.tm_mon, &t.tm_mday,
                   &t.tm_hour, &t.tm_min, &t.tm_sec, &n) != 6 ||
            !n)
            continue;
        for (double tenth = 0.1; strchr(",.", s[n]) && s[n] && isdigit((unsigned char)s[n + 1]);) {
            for (n++; isdigit((unsigned char)s[n]); n++, tenth /= 10)
                fraction += tenth * (s[n] - '0');
        }
        t.tm_year -= 1900;
        t.tm_mon -= 1;
        return (double)timegm(&t) + fraction;
    }
    return 0;
}

/* ---- values ---- */

/* A whole number without a unit that rises by as much each time counts something, such as batches. */
static bool counts(struct row *r, double x)
{
    double difference = x - r->last;
    if (!r->is_time && !r->is_count) {
        if (r->whole && difference <= 0)
            r->is_time = true;
        else if (r->whole > 1)
            r->is_count = !(r->is_time = difference != r->difference);
    }
    r->whole++;
    r->difference = difference;
    r->last = x;
    return !r->is_time;
}

/* The iteration whose time a line has may be a micro-batch: how many make a step; 0: unknown. */
static double micro_batches(struct watch_lines *w, const char *line, const char *matched,
                            struct watch_values *v)
{
    regmatch_t m[GROUPS], o[GROUPS];
    bool both = !regexec(&w->own[MICRO], line, GROUPS, m, 0) &&
                !regexec(&w->own[OPTIMIZER], line, GROUPS, o, 0);
    bool of_step = !strncasecmp(matched, "step", 4) || !strncasecmp(matched, "global", 6);
    const char *before = matched;
    while (before > line && strchr("_ -", before[-1]))
        before--;
    bool micro = before - line >= 5 && !strncasecmp(before - 5, "micro", 5);
    if (!both)
        return micro ? 0 : 1;
    if (of_step && !micro)
        return 1;
    long long at = strtoll(line + m[4].rm_so, NULL, 10),
              step = strtoll(line + o[4].rm_so, NULL, 10);
    bool whole = step > 0 && at % step == 0;
    double n = 0;
    if (step != w->micro_step) { /* else in the middle of a step */
        n = w->micro_edge ? (double)(at - w->micro_at) / (double)(step - w->micro_step)
            : whole       ? (double)at / (double)step
                          : 0;
        w->micro_edge = w->micro_step >= 0 || whole;
        w->micro_at = at;
        w->micro_step = step;
    }
    v->step = step;
    return n >= 1 ? n : 0;
}

/* The time between two lines with the number of a step. */
static double since_last(struct row *r, double at_s, long long step)
{
    double taken = 0;
    if (step < 0 || !(at_s > 0))
        return 0;
    bool first = !(r->at_s > 0);
    if (step > r->at_step && (r->meaning == ELAPSED || !first))
        taken = (at_s - r->at_s) / (double)(step - r->at_step);
    if (step != r->at_step || first) {
        r->at_s = at_s;
        r->at_step = step;
    }
    return taken;
}

/* "throughput per GPU: 3000 tokens/s": the words beside a rate, up to the next mark. */
static bool is_of_device(const struct watch_lines *w, const char *line, const regmatch_t *m)
{
    regoff_t from = m->rm_so, to = m->rm_eo;
    while (from > 0 && !strchr(",;|", line[from - 1]) && m->rm_so - from < 40)
        from--;
    to += (regoff_t)strcspn(line + to, ",;|");
    AUTO_FREE char *words = xstrfmt("%.*s", (int)(to - from), line + from);
    return !regexec(&w->own[OF_DEVICE], words, 0, NULL, 0);
}

/* Of a row that fits: a time of a step. */
static double row_step_s(struct watch_lines *w, struct row *r, const char *line,
                         const regmatch_t *m, const regmatch_t *number, struct watch_values *v)
{
    double x = value_in(line, number), unit = 0;
    const size_t length = (size_t)(number->rm_eo - number->rm_so);
    for (size_t i = 0; i < r->n_units; i++)
        unit = unit_in(line, &m[r->units[i]]) > 0 ? unit_in(line, &m[r->units[i]]) : unit;
    if (r->meaning == STEPS_PER_S)
        return x > 0 ? 1 / x : 0;
    const bool whole = strspn(line + number->rm_so, "0123456789") >= length;
    if (r->n_units && !(unit > 0) && whole && counts(r, x))
        return 0;
    const char *matched = line + m[0].rm_so;
    while (*matched && !isalpha((unsigned char)*matched))
        matched++;
    return x * (unit > 0 ? unit : r->unit) * micro_batches(w, line, matched, v);
}

/* The number of the step that a line names; -1: none. */
static long long step_in(const struct watch_lines *w, const char *line)
{
    regmatch_t m[GROUPS];
    for (const char *s = line; !regexec(&w->own[STEP], s, GROUPS, m, s > line ? REG_NOTBOL : 0);
         s += m[0].rm_eo) {
        const char *at = s + m[0].rm_so;
        const regmatch_t *g = first_digits(s, m);
        if (g && (at - line < 3 || strncasecmp(at - 3, "per", 3)))
            return (long long)number(s + g->rm_so, (size_t)(g->rm_eo - g->rm_so));
    }
    return -1;
}

/* Rates of one GPU first; then their places are blank, so that the rate of all is found beside
 * them. */
static void read_known(struct watch_lines *w, const char *line, struct watch_values *v)
{
    AUTO_FREE char *rest = xstrdup(line);
    regmatch_t m[GROUPS];
    double time_s = 0, between_s = 0;
    int time_digits = 0, rate_digits = 0;
    for (size_t i = 0; i < w->n_rows; i++) {
        struct row *r = &w->rows[i];
        if (r->meaning >= FAULT || regexec(&r->regex, rest, GROUPS, m, 0))
            continue;
        const regmatch_t *number = r->value ? &m[r->value] : first_digits(rest, m);
        if (!number && r->meaning != STAMP)
            continue;
        double x = number ? value_in(rest, number) : 0;
        int digits = number ? digits_in(rest, number) : 0;
        enum meaning kind = r->meaning;
        if (kind == RATE && is_of_device(w, rest, &m[0]))
            kind = RATE_OF_GPU;
        if (kind == STEP_TIME || kind == STEP_BEHIND) {
            double s = time_s > 0 ? 0 : row_step_s(w, r, rest, m, number, v);
            time_digits = s > 0 ? digits : time_digits;
            time_s = s > 0 ? s : time_s;
        } else if (kind == STEPS_PER_S && !(v->step_s > 0)) {
            v->step_s = row_step_s(w, r, rest, m, number, v);
            v->digits = digits;
        } else if (kind == ELAPSED || kind == STAMP) {
            double at = kind == ELAPSED ? clock_in(rest, number) : stamp_in(rest);
            between_s = since_last(r, at, step_in(w, rest));
        } else if (kind == RATE) {
            const char *from = rest;
            do { /* also of the text behind, if the row fits there */
                digits = digits_in(from, number);
                if (v->rate > 0 && !v->of_gpu && digits <= rate_digits)
                    continue;
                v->rate = value_in(from, number);
                v->of_gpu = false;
                rate_digits = digits;
            } while (r->value && m[0].rm_eo > m[0].rm_so && (from += m[0].rm_eo) &&
                     !regexec(&r->regex, from, GROUPS, m, REG_NOTBOL));
        } else if (kind == RATE_OF_GPU) {
            v->rate = v->rate > 0 ? v->rate : x;
            v->of_gpu = v->of_gpu || !rate_digits;
            memset(rest + m[0].rm_so, ' ', (size_t)(m[0].rm_eo - m[0].rm_so));
        }
    }
    if (time_s > 0 && (!(v->step_s > 0) || time_digits >= v->digits)) {
        v->step_s = time_s;
        v->digits = time_digits;
    }
    v->step_s = v->step_s > 0 ? v->step_s : between_s;
    v->rate_digits = rate_digits;
}

/* ---- progress bars ---- */

static bool labelled_other(const struct watch_lines *w, const char *line, size_t end)
{
    char label[48];
    while (end && line[end - 1] != '%') /* "Loading:   5%|##   |" */
        end--;
    while (end && strchr("0123456789% :", line[end - 1]))
        end--;
    size_t n = end < sizeof label - 1 ? end : sizeof label - 1;
    snprintf(label, sizeof label, "%.*s", (int)n, line + end - n);
    return !regexec(&w->own[OTHER], label, 0, NULL, 0);
}

static bool is_nested(const struct watch_lines *w, long long total)
{
    for (size_t i = 0; i < w->n_nested; i++)
        if (w->nested[i] == total)
            return true;
    return false;
}

/* Is the bar that of the steps? A bar of another length that begins before the bar of the steps has
 * ended is of evaluation, as is one after a line that says so. */
static bool is_of_steps(struct watch_lines *w, long long count, long long total, bool *restart)
{
    const bool unfinished = w->bar_count < w->bar_total;
    if (total == w->bar_total) {
        w->bar_count = count;
        w->evaluating = false;
        return true;
    }
    const bool loaded =
        w->bar_total < SHORT_BAR && count > SHORT_BAR; /* not all of its bar shown */
    if (is_nested(w, total) && !loaded)
        return false;
    if (w->evaluating || (w->bar_total && unfinished && !loaded) ||
        (w->bar_total >= SHORT_BAR && total < w->bar_total)) {
        if (w->n_nested < NESTED && !is_nested(w, total))
            w->nested[w->n_nested++] = total;
        return false;
    }
    *restart = w->bar_total > 0;
    w->bar_total = total;
    w->bar_count = count;
    w->last = -1;
    return true;
}

/* True if the line has a progress bar; v->step stays -1 if that is none of steps. */
static bool read_bar(struct watch_lines *w, const char *line, struct watch_values *v)
{
    regmatch_t m[GROUPS];
    if (strcasestr(line, "running evaluation") || strcasestr(line, "running prediction"))
        w->evaluating = true;
    if (strcasestr(line, "running training"))
        w->evaluating = false;
    if (regexec(&w->own[BAR], line, GROUPS, m, 0))
        return false;
    long long count = strtoll(line + m[BAR_COUNT].rm_so, NULL, 10);
    long long total = strtoll(line + m[BAR_TOTAL].rm_so, NULL, 10);
    bool of_steps = !w->over && total > 0 && !labelled_other(w, line, (size_t)m[0].rm_so) &&
                    is_of_steps(w, count, total, &v->restart);
    if (!of_steps)
        return true;
    double x = value_in(line, &m[BAR_NUMBER]);
    bool per_s = line[m[BAR_UNIT].rm_so] == 'i' || line[m[BAR_UNIT].rm_so] == 'I';
    v->step_s = !per_s ? x : x > 0 ? 1 / x : 0;
    v->digits = digits_in(line, &m[BAR_NUMBER]);
    v->step = count;
    return true;
}

/* ---- a line ---- */

/* Takes away what earlier lines said of the same step; ranks may be late by some steps. */
static void forget_repeated(struct watch_lines *w, struct watch_values *v)
{
    if (v->step < 0)
        return;
    const bool ended = w->bar_total > 0 && w->last == w->bar_total;
    if (v->step == w->last || (v->step < w->last && w->last - v->step <= LATE && !ended)) {
        const bool late = v->step != w->last;
        v->again = true;
        v->rate = late || w->has_rate ? 0 : v->rate;
        v->step_s = late || w->has_time ? 0 : v->step_s;
    } else {
        w->last = v->step;
        w->has_rate = w->has_time = false;
    }
    w->has_rate = w->has_rate || v->rate > 0;
    w->has_time = w->has_time || v->step_s > 0;
}

struct watch_values watch_lines_read(struct watch_lines *w, const char *line)
{
    struct watch_values v = {.step = -1};
    const bool bar = read_bar(w, line, &v), summary = strstr(line, "train_runtime");
    regmatch_t m[GROUPS];
    if (bar && v.step < 0) /* of loading or evaluation */
        return v;
    if (!regexec(&w->own[HEADING], line, GROUPS, m, 0)) {
        w->heading_step = strtoll(line + m[2].rm_so, NULL, 10);
        return v;
    }
    long long step = v.step;
    if (!summary || w->last < 0)
        read_known(w, line, &v);
    w->over = w->over || summary;
    if (bar)
        v.step = step;
    else if (v.step < 0)
        v.step = step_in(w, line);
    if (v.step >= 0)
        w->heading_step = -1;
    else
        v.step = w->heading_step;
    if (!(v.rate < RATE_MAX) || (v.of_gpu && w->totals))
        v.rate = 0;
    if (!(v.step_s >= STEP_MIN_S && v.step_s <= STEP_MAX_S))
        v.step_s = 0;
    if (v.rate > 0 && !v.of_gpu) {
        v.first_rate = !w->totals;
        w->totals = true;
    }
    if (v.rate > 0 || v.step_s > 0)
        forget_repeated(w, &v);
    return v;
}

size_t watch_lines_fault(const struct watch_lines *w, const char *line, bool *warning)
{
    for (size_t i = 0; i < w->n_rows; i++)
        if (w->rows[i].meaning >= FAULT && !regexec(&w->rows[i].regex, line, 0, NULL, 0)) {
            *warning = w->rows[i].meaning == WARNING;
            return w->rows[i].kind;
        }
    return w->kinds.n;
}

const struct words *watch_lines_kinds(const struct watch_lines *w)
{
    return &w->kinds;
}

void watch_clean(char *line, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)line[i];
        if (c == '\033' && i + 1 < n && line[i + 1] == '[')
            for (i += 2; i < n && !isalpha((unsigned char)line[i]);)
                i++;
        else if (c)
            line[k++] = iscntrl(c) ? ' ' : (char)c;
    }
    line[k] = '\0';
    printable_make(line, "");
}
