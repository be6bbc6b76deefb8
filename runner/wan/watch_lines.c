/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/watch_lines.h"

#include "base/err.h"
#include "base/printable.h"
#include "base/text.h"
#include "wan/watch_patterns.h"

#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS 8

struct reader {
    regex_t regex;
    enum watch_meaning meaning;
};

struct watch_lines {
    struct reader rates[WATCH_PATTERNS_MAX], times[WATCH_PATTERNS_MAX], steps[WATCH_PATTERNS_MAX];
    size_t n_rates, n_times, n_steps;
    regex_t troubles[WATCH_PATTERNS_MAX];
    size_t n_troubles;
};

/* ---- patterns ---- */

static bool compile(regex_t *regex, const char *text)
{
    return !regcomp(regex, text, REG_EXTENDED | REG_ICASE);
}

static void add(struct reader *r, size_t *n, const char *text, enum watch_meaning meaning)
{
    if (*n < WATCH_PATTERNS_MAX && compile(&r[*n].regex, text))
        r[(*n)++].meaning = meaning;
}

static int add_own(struct watch_lines *w, const char *pattern)
{
    bool step = !strncmp(pattern, "step:", strlen("step:"));
    const char *text = step ? pattern + strlen("step:") : pattern;
    struct reader *r = step ? &w->times[w->n_times] : &w->rates[w->n_rates];
    char why[200];
    int error = regcomp(&r->regex, text, REG_EXTENDED | REG_ICASE);
    if (error) {
        regerror(error, &r->regex, why, sizeof why);
        return fail(GS_USAGE, "watch: --pattern '%s': %s", text, why);
    }
    r->meaning = step ? WATCH_STEP : WATCH_RATE;
    *(step ? &w->n_times : &w->n_rates) += 1;
    if (!r->regex.re_nsub)
        return fail(GS_USAGE, "watch: --pattern '%s': add a (group) around the number", text);
    return GS_OK;
}

struct watch_lines *watch_lines_new(const char *pattern)
{
    struct watch_lines *w = xcalloc(1, sizeof *w);
    if (pattern && add_own(w, pattern)) {
        watch_lines_free(w);
        return NULL;
    }
    for (const struct watch_pattern *p = watch_rates; !pattern && p->text; p++)
        add(w->rates, &w->n_rates, p->text, p->meaning);
    for (const struct watch_pattern *p = watch_times; !pattern && p->text; p++)
        add(w->times, &w->n_times, p->text, p->meaning);
    for (const char *const *s = watch_steps; *s; s++)
        add(w->steps, &w->n_steps, *s, WATCH_STEP);
    for (const struct watch_trouble *t = watch_troubles; t->text; t++)
        w->n_troubles += compile(&w->troubles[w->n_troubles], t->text);
    return w;
}

static void free_readers(struct reader *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        regfree(&r[i].regex);
}

void watch_lines_free(struct watch_lines *w)
{
    free_readers(w->rates, w->n_rates);
    free_readers(w->times, w->n_times);
    free_readers(w->steps, w->n_steps);
    for (size_t i = 0; i < w->n_troubles; i++)
        regfree(&w->troubles[i]);
    free(w);
}

/* ---- a line ---- */

/* "7,123", "1.5e6", "1.2M"; 0 when there is none. */
static double number(const char *s, size_t n)
{
    char digits[64];
    size_t k = 0;
    double unit = 1;
    for (size_t i = 0; i < n && k < sizeof digits - 1; i++)
        if (s[i] != ',')
            digits[k++] = s[i];
    digits[k] = '\0';
    if (k) {
        const char *at = strchr("kmg", tolower((unsigned char)digits[k - 1]));
        unit = at ? pow(1000, (double)(at - "kmg" + 1)) : 1;
    }
    return strtod(digits, NULL) * unit;
}

/* The first group that begins with a digit, of the first expression that matches. NULL: none. */
static const char *find_digits(const struct reader *r, size_t n, const char *line, size_t *length,
                               enum watch_meaning *meaning)
{
    regmatch_t m[GROUPS];
    for (size_t i = 0; i < n; i++) {
        if (regexec(&r[i].regex, line, GROUPS, m, 0))
            continue;
        for (size_t g = 1; g < GROUPS; g++)
            if (m[g].rm_so >= 0 && isdigit((unsigned char)line[m[g].rm_so])) {
                *meaning = r[i].meaning;
                *length = (size_t)(m[g].rm_eo - m[g].rm_so);
                return line + m[g].rm_so;
            }
    }
    return NULL;
}

static double find(const struct reader *r, size_t n, const char *line, enum watch_meaning *meaning)
{
    size_t length;
    const char *digits = find_digits(r, n, line, &length, meaning);
    return digits ? number(digits, length) : 0;
}

static double step_seconds(enum watch_meaning meaning, double x)
{
    switch (meaning) {
    case WATCH_STEP_MS:
        return x / 1e3;
    case WATCH_STEPS_PER_S:
        return x > 0 ? 1 / x : 0;
    default:
        return x;
    }
}

struct watch_values watch_lines_read(const struct watch_lines *w, const char *line)
{
    struct watch_values said = {.step = -1};
    enum watch_meaning meaning = WATCH_RATE;
    size_t length;
    said.rate = find(w->rates, w->n_rates, line, &meaning);
    said.of_gpu = meaning == WATCH_RATE_OF_GPU;
    double time = find(w->times, w->n_times, line, &meaning);
    said.step_s = step_seconds(meaning, time);
    const char *digits = find_digits(w->steps, w->n_steps, line, &length, &meaning);
    if (digits)
        said.step = strtoll(digits, NULL, 10);
    return said;
}

int watch_lines_trouble(const struct watch_lines *w, const char *line)
{
    for (size_t i = 0; i < w->n_troubles; i++)
        if (!regexec(&w->troubles[i], line, 0, NULL, 0))
            return (int)i;
    return -1;
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
