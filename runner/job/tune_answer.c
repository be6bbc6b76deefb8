/* SPDX-License-Identifier: Apache-2.0 */
#include "job/tune_answer.h"

#include "base/err.h"
#include "base/files.h"
#include "base/shell.h"
#include "base/term.h"
#include "base/text.h"
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "SETTING; SETTING", of the rows of one link. */
static void add_rows(struct text *t, const struct tune_settings *s, enum tune_link link)
{
    for (size_t i = 1; i < s->n; i++) {
        AUTO_FREE char *words = tune_setting_words(&s->v[i]);
        if (s->v[i].link == link)
            text_addf(t, "%s%s", t->len ? "; " : "", words);
    }
}

int tune_say_settings(const struct tune_request *q, bool print)
{
    size_t n = 0;
    for (int link = TUNE_LINKS - 1; link >= TUNE_UNKNOWN; link--) {
        AUTO_TEXT struct text text = {0};
        const char *name = link ? tune_link_words[link] : "any link";
        struct tune_settings s; /* those of any link come last */
        int code = tune_settings_make(&s, q, link ? (enum tune_link)link : TUNE_P2P);
        if (code)
            return code;
        n += s.n - 1;
        add_rows(&text, &s, (enum tune_link)link);
        tune_settings_free(&s);
        if (!print || !text.len)
            continue;
        printf("%s: ", name);
        screen_wrap(strlen(name) + 2, 2, SCREEN_COLUMNS, text.s);
    }
    return n ? GS_OK
             : fail(GS_USAGE,
                    "tune: --only '%s': no setting contains one of these words; --dry-run without "
                    "--only lists all",
                    q->only);
}

char *tune_bytes_text(double share, double all_B)
{
    bool mega = all_B >= 1e6;
    double unit = mega ? 1e6 : 1e3;
    return xstrfmt("%.3g of %.3g %s a step", share * all_B / unit, all_B / unit,
                   mega ? "MB" : "kB");
}

void tune_say_price(const struct price_answer *p, double other_share, double all_B)
{
    AUTO_FREE char *sentence = p->known ? price_sentence(p) : NULL, *noise = price_noise(p);
    if (noise)
        say("tune: %s", noise);
    if (sentence) {
        screen_say(sentence);
        if (!p->launches)
            screen_say(PRICE_OF_ONE);
    } else
        say("tune: no price: %s", *p->why ? p->why : "the job ended before it was known");
    if (other_share >= 0.01) {
        AUTO_FREE char *bytes = tune_bytes_text(other_share, all_B);
        AUTO_FREE char *other =
            xstrfmt("Sends, receives and broadcasts of bytes, %s, are not in this price.", bytes);
        screen_say(other);
    }
}

bool tune_say_worthless(const struct price_answer *p, double worth)
{
    if (!p->known || p->none.hi >= worth)
        return false;
    AUTO_FREE char *s = xstrfmt("No communication setting can gain more than that, which is less "
                                "than %.3g%% of the step: change nothing.",
                                100 * worth);
    screen_say(s);
    return true;
}

/* ---- the lines to paste ---- */

static void emit(const struct tune_setting *s, bool python)
{
    if (python && s->variables.n)
        puts("import os  # before torch.distributed.init_process_group()");
    for (size_t i = 0; i < s->variables.n; i++) {
        const char *v = s->variables.v[i], *value = v + strcspn(v, "=") + 1;
        int n = (int)(value - v - 1);
        bool unset = !strcmp(value, "unset");
        AUTO_TEXT struct text quoted = {0};
        python_quote(&quoted, value);
        if (python && unset)
            printf("os.environ.pop(\"%.*s\", None)\n", n, v);
        else if (python)
            printf("os.environ[\"%.*s\"] = %s\n", n, v, quoted.s);
        else if (unset)
            printf("unset %.*s\n", n, v);
        else if (!*value)
            printf("export %.*s=  # or remove its line from nccl.conf\n", n, v);
        else
            printf("export %.*s=%s\n", n, v, SHELL_WORD(value));
    }
    if (s->library)
        printf("export LD_PRELOAD=%s  # this NCCL before the job's own\n", SHELL_WORD(s->library));
    for (size_t i = 0; i < s->torch.n; i++) {
        AUTO_FREE char *code = tune_switch_code(s->torch.v[i]);
        printf("%s%s\n", python ? "" : "# in the code: ", code);
    }
}

void tune_say_proven(const struct tune_setting *s, const struct effect *e, const char *uncounted,
                     const struct price_answer *p, bool python)
{
    AUTO_FREE char *words = tune_setting_words(s);
    AUTO_TEXT struct text t = {0};
    bool only_without = !strncmp(words, "without ", 8);
    text_addf(&t,
              "%s%s: steps %.1f%% shorter [%.1f, %.1f], proven in %d launches that did not "
              "choose it",
              only_without ? "Run " : "Set ", words, -100 * expm1(e->value), -100 * expm1(e->hi),
              -100 * expm1(e->lo), e->launches);
    if (uncounted)
        text_addf(&t, " (not counted: %s)", uncounted);
    double gain = -expm1(e->value), least = -expm1(e->hi), most = -expm1(e->lo);
    if (p->known && p->none.value > 0) /* from the ends of both intervals */
        text_addf(&t, "; this gets back %.0f%% [%.0f, %.0f] of what communication costs",
                  fmin(100, 100 * gain / p->none.value),
                  fmin(100, fmax(0, 100 * least / p->none.hi)),
                  p->none.lo > 0 ? fmin(100, 100 * most / p->none.lo) : 100);
    text_add(&t, ".");
    screen_say(t.s);
    if (*s->changes && !only_without) {
        AUTO_FREE char *changes = xstrfmt("What it changes: %s.", s->changes);
        screen_say(changes);
    }
    emit(s, python);
}

void tune_say_inside(const struct tune_setting *s, const struct effect *e)
{
    AUTO_FREE char *words = tune_setting_words(s);
    AUTO_FREE char *line = xstrfmt(
        "%s: steps %.1f%% shorter [%.1f, %.1f] in the running job, in %d blocks of one launch. The "
        "program or its "
        "command sets this variable itself, so no other launch can prove it: change it there.",
        words, -100 * expm1(e->value), -100 * expm1(e->hi), -100 * expm1(e->lo), e->launches);
    screen_say(line);
}

void tune_say_nothing(const struct tune_settings *s, size_t tried, double worth, size_t best,
                      const struct effect *e, double floor, const char *uncounted)
{
    AUTO_TEXT struct text t = {0};
    best = tried ? best : 0;
    AUTO_FREE char *words = best ? tune_setting_words(&s->v[best]) : NULL;
    if (tried)
        text_addf(&t, "No setting of %zu was shown to shorten the step by %.3g%%", tried,
                  100 * worth);
    else
        text_addf(&t, "No setting was tried: %s",
                  s->n > 1 ? "the time was too short; use more --minutes"
                           : "there is none for this link; name some with --candidates FILE");
    if (best && e && !(expm1(e->hi) < 10)) /* also of NaN */
        text_addf(
            &t,
            "; %s looked shorter in the first launch, but %d launch%s of its proof %s too few "
            "to tell",
            words, e->launches, e->launches == 1 ? "" : "es", e->launches == 1 ? "is" : "are");
    else if (best && e)
        text_addf(
            &t,
            "; in %d launches of its proof the steps of %s were %.1f%% %s [%+.1f, %+.1f], and a "
            "gain below %.1f%% would not have been proven",
            e->launches, words, 100 * fabs(expm1(e->value)), e->value < 0 ? "shorter" : "longer",
            100 * expm1(e->lo), 100 * expm1(e->hi),
            -100 * expm1(e->value - e->hi - (isnan(floor) ? 0 : fabs(floor))));
    else if (best)
        text_addf(&t, "; the best left open is %s", words);
    if (best && e && uncounted)
        text_addf(&t, " (not counted: %s)", uncounted);
    text_add(&t, ".");
    screen_say(t.s);
}

/* ---- the figure ----
 *
 * setting.plot has a row for each setting: the step in seconds, its interval, and whether it was proven. */

#define BARS 12 /* at most */

struct bar {
    char *name;
    double s, lo, hi;
    bool proven;
};

struct bars {
    struct bar v[BARS + 1];
    size_t n;
    double compute_s; /* of a step; NaN: unknown */
};

static void free_bars(struct bars *b)
{
    for (size_t i = 0; i < b->n; i++)
        free(b->v[i].name);
}

static void add_bar(struct bars *b, const struct tune_result *r, size_t i)
{
    bool proven = r->winner == i && r->proof && !isnan(r->proof->value);
    bool raced = i < r->race->n && r->race->v[i].n;
    double value = raced ? r->race->v[i].effect : r->inside[i].effect.value,
           lo = raced ? r->race->v[i].lo : r->inside[i].effect.lo,
           hi = raced ? r->race->v[i].hi : r->inside[i].effect.hi;
    if (proven) {
        value = r->proof->value;
        lo = r->proof->lo;
        hi = r->proof->hi;
    }
    if (raced && !proven && r->race->v[i].n < 2)
        lo = hi = NAN; /* one launch has no interval of its own */
    if (isnan(value) || b->n > BARS)
        return;
    size_t k = b->n++;
    for (; k > 1 && b->v[k - 1].s > r->step_s * exp(value); k--)
        b->v[k] = b->v[k - 1];
    char *name = tune_setting_words(&r->set->v[i]);
    for (char *c = name; *c; c++)
        *c = *c == '"' ? '\'' : *c;
    b->v[k] = (struct bar){name, r->step_s * exp(value), r->step_s * exp(lo), r->step_s * exp(hi),
                           proven};
}

bool tune_plot(const char *dir, const struct tune_result *r)
{
    AUTO_TEXT struct text t = {0};
    AUTO_FREE char *path = xstrfmt("%s/setting.plot", dir);
    struct bars b = {.n = 1};
    b.v[0] = (struct bar){xstrdup("the job as it is"), r->step_s, r->step_s, r->step_s, false};
    for (size_t i = 1; i < r->set->n; i++)
        if ((i < r->race->n && r->race->v[i].n && !r->race->v[i].failed) ||
            (r->inside && r->inside[i].effect.launches > 1))
            add_bar(&b, r, i);
    text_addf(&t, "platform = \"%s\"\nranks = %lld\nnodes = %lld\nbase = %.9g\nrows = %zu\n",
              r->platform, r->ranks, r->nodes, r->step_s, b.n);
    if (r->price->known)
        text_addf(&t, "share = %.9g\nshare_lo = %.9g\nshare_hi = %.9g\n", r->price->none.value,
                  r->price->none.lo, r->price->none.hi);
    else
        text_add(&t, "share = NaN\n");
    for (size_t i = 0; i < b.n; i++)
        text_addf(&t, "name[%zu] = \"%s\"\n", i + 1, b.v[i].name);
    text_add(&t, "$bars << EOD\n");
    for (size_t i = 0; i < b.n; i++)
        text_addf(&t, "%zu %.9g %.9g %.9g %d\n", i + 1, b.v[i].s, b.v[i].lo, b.v[i].hi,
                  b.v[i].proven);
    text_add(&t, "EOD\n");
    free_bars(&b);
    return files_replace(path, t.s, 0666);
}

/* Also that of older versions. */
static bool read_bars(struct bars *b, const char *dir)
{
    AUTO_FREE char *path = xstrfmt("%s/setting.plot", dir);
    AUTO_TEXT struct text t = {0};
    double base = NAN, share = NAN;
    *b = (struct bars){.compute_s = NAN};
    if (!files_read(path, FILES_OWN, FILES_WHOLE_MAX, &t) || !t.s)
        return false;
    for (char *rest = t.s, *line; (line = strsep(&rest, "\n"));) {
        size_t row;
        double s, lo, hi;
        int proven, at = 0;
        if (sscanf(line, "name[%zu] = \"%n", &row, &at) == 1 && at && row >= 1 && row <= BARS + 1 &&
            row == b->n + 1)
            b->v[b->n++].name = xstrfmt("%.*s", (int)strcspn(line + at, "\""), line + at);
        else if (sscanf(line, "%zu %lf %lf %lf %d", &row, &s, &lo, &hi, &proven) == 5 && row >= 1 &&
                 row <= b->n)
            b->v[row - 1] = (struct bar){b->v[row - 1].name, s, lo, hi, proven};
        sscanf(line, "base = %lf", &base);
        sscanf(line, "share = %lf", &share);
    }
    b->compute_s = base * (1 - fmin(1, fmax(0, share)));
    return b->n;
}

static double longest(const struct bars *b)
{
    double most = 1e-9;
    for (size_t i = 0; i < b->n; i++)
        most = fmax(most, b->v[i].s);
    return most;
}

#define BAR_COLUMNS 24
#define NAME_COLUMNS 46 /* a longer name has a line of its own */

int tune_bars(const char *dir)
{
    struct bars b;
    size_t width = 0;
    if (!read_bars(&b, dir) || b.n < 2) {
        free_bars(&b);
        return GS_OK;
    }
    double scale = BAR_COLUMNS / longest(&b);
    for (size_t i = 0; i < b.n; i++) {
        size_t n = strlen(b.v[i].name);
        width = n > width && n <= NAME_COLUMNS ? n : width;
    }
    printf("%-*s  %s\n", (int)width, "",
           isnan(b.compute_s) ? "step" : "step: # compute, = communication");
    for (size_t i = 0; i < b.n; i++) {
        char bar[BAR_COLUMNS + 1];
        int n = (int)lround(b.v[i].s * scale);
        int compute = isnan(b.compute_s) ? 0 : (int)lround(b.compute_s * scale);
        n = n > BAR_COLUMNS ? BAR_COLUMNS : n;
        for (int k = 0; k < BAR_COLUMNS; k++)
            bar[k] = k >= n ? ' ' : k < compute ? '#' : '=';
        bar[BAR_COLUMNS] = '\0';
        bool fits = strlen(b.v[i].name) <= width;
        if (!fits)
            puts(b.v[i].name);
        printf("%-*s  %s %.4g ms", (int)width, fits ? b.v[i].name : "", bar, 1e3 * b.v[i].s);
        if (isnan(b.v[i].lo))
            printf(" in one launch");
        else if (i)
            printf(" [%.4g, %.4g]%s", 1e3 * b.v[i].lo, 1e3 * b.v[i].hi,
                   b.v[i].proven ? " proven" : "");
        putchar('\n');
    }
    free_bars(&b);
    return GS_OK;
}

/* ---- the same as SVG ---- */

#define SVG_LEFT 20.0
#define SVG_BARS 620.0
#define SVG_LINE 18.0 /* of a name */
#define SVG_ROW 28.0
#define SVG_NAME 100 /* letters of a line */

static void add_xml(struct text *t, const char *s, size_t n)
{
    for (; n--; s++)
        text_add(t, *s == '&'   ? "&amp;"
                    : *s == '<' ? "&lt;"
                    : *s == '>' ? "&gt;"
                                : (char[]){*s, '\0'});
}

/* Above its bar, in lines that end at blanks. Returns where the bar begins. */
static double add_name(struct text *t, double y, const char *name)
{
    while (*name) {
        size_t n = strlen(name);
        for (size_t k = SVG_NAME; n > SVG_NAME && k; k--)
            if (name[k] == ' ') {
                n = k;
                break;
            }
        y += SVG_LINE;
        text_addf(t, "<text x=\"%.0f\" y=\"%.1f\">", SVG_LEFT, y - 5);
        add_xml(t, name, n);
        text_add(t, "</text>\n");
        name += n + (name[n] == ' ');
    }
    return y;
}

static void add_rect(struct text *t, double x, double y, double width, const char *colour)
{
    text_addf(t, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"16\" fill=\"%s\"/>\n", x, y,
              fmax(0, width), colour);
}

int tune_svg(const char *dir, const char *file)
{
    struct bars b;
    AUTO_TEXT struct text t = {0}, rows = {0};
    if (!read_bars(&b, dir))
        return fail(GS_USAGE, "show --svg: %s has no setting.plot: it is not the race of a tune",
                    dir);
    double scale = SVG_BARS / longest(&b), y = 34;
    for (size_t i = 0; i < b.n; i++, y += SVG_ROW) {
        double s = b.v[i].s * scale;
        double compute = isnan(b.compute_s) ? 0 : fmin(s, b.compute_s * scale);
        y = add_name(&rows, y, b.v[i].name);
        add_rect(&rows, SVG_LEFT, y, compute, "#4477aa");
        add_rect(&rows, SVG_LEFT + compute, y, s - compute, b.v[i].proven ? "#ccbb44" : "#99c2e0");
        if (i && !isnan(b.v[i].lo))
            text_addf(&rows,
                      "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"black\"/>\n",
                      SVG_LEFT + b.v[i].lo * scale, SVG_LEFT + b.v[i].hi * scale, y + 8, y + 8);
        text_addf(&rows, "<text x=\"%.1f\" y=\"%.1f\">%.4g ms%s</text>\n", SVG_LEFT + SVG_BARS + 24,
                  y + 13, 1e3 * b.v[i].s,
                  b.v[i].proven      ? ", proven"
                  : isnan(b.v[i].lo) ? ", in one launch"
                                     : "");
    }
    text_addf(&t,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"%.0f\" "
              "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"900\" height=\"%.0f\" "
              "fill=\"white\"/>\n<text x=\"%.0f\" y=\"20\">time of a step: %s; lines: 95%% "
              "interval</text>\n%s</svg>\n",
              y, y, SVG_LEFT,
              isnan(b.compute_s) ? "whole" : "compute (dark) and communication (light)", rows.s);
    free_bars(&b);
    return files_replace(file, t.s, 0666) ? GS_OK : fail_file(file, "written", errno);
}
