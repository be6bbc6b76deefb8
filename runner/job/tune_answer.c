/* SPDX-License-Identifier: Apache-2.0 */
#include "job/tune_answer.h"

#include "base/err.h"
#include "base/files.h"
#include "base/shell.h"
#include "base/term.h"
#include "base/text.h"
#include "base/units.h"
#include "job/job_recording.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tune_say_settings(const struct tune_request *q, bool print)
{
    size_t n = 0;
    for (int link = TUNE_LINKS - 1; link >= TUNE_UNKNOWN; link--) {
        struct tune_settings s; /* those of any link come last */
        int code = tune_settings_make(&s, q, link ? (enum tune_link)link : TUNE_P2P);
        if (code)
            return code;
        n += s.n - 1;
        for (size_t i = 1; i < s.n && print; i++) {
            AUTO_FREE char *words = tune_setting_apply(&s.v[i], " ");
            if (s.v[i].link == (enum tune_link)link)
                printf("%s: %s%s%s\n", tune_link_names[link], words, *s.v[i].changes ? "  # " : "",
                       s.v[i].changes);
        }
        tune_settings_free(&s);
    }
    return n ? GS_OK
             : fail(GS_USAGE,
                    "tune: --only '%s': no setting contains one of these words; --dry-run without "
                    "--only lists all",
                    q->o->only);
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

void tune_say_nothing(const struct race *r, size_t tried, size_t best, const struct effect *e,
                      double floor, const char *uncounted)
{
    const struct tune_settings *s = &r->set;
    AUTO_TEXT struct text t = {0};
    size_t untried = 0;
    for (size_t i = 1; i < s->n; i++)
        untried += r->v[i].untried ||
                   ((r->v[i].in[IN_JOB] || r->v[i].in[IN_LAUNCHES]) && !race_is_measured(&r->v[i]));
    best = tried ? best : 0;
    AUTO_FREE char *words = best ? tune_setting_words(&s->v[best]) : NULL;
    bool few = best && !(e && expm1(e->hi) < 10); /* also of NaN */
    const struct effect *raced = best ? &r->v[best].effect : NULL;
    if (few && raced->hi < 0)
        text_addf(
            &t,
            "Not proven: %s: steps %.1f%% shorter [%.1f, %.1f] where settings were compared, but ",
            words, -100 * expm1(raced->value), -100 * expm1(raced->hi), -100 * expm1(raced->lo));
    else if (tried)
        text_addf(&t, "No setting of %zu was shown to shorten the step by %.3g%%", tried,
                  100 * r->worth);
    else
        text_addf(&t, "No setting was tried: %s",
                  untried    ? "the time was too short, or the job ended early; use more "
                               "--minutes"
                  : s->n > 1 ? "none can be compared in this job, as said above"
                             : "there is none for this link; name some with --candidates FILE");
    if (few && e) {
        if (!(raced->hi < 0))
            text_addf(&t, "; %s looked shorter in the first launch, but ", words);
        text_addf(&t, "%d launch%s of its proof %s too few to tell", e->launches,
                  e->launches == 1 ? "" : "es", e->launches == 1 ? "is" : "are");
    } else if (few && raced->hi < 0)
        text_add(&t, "there was no time for a proof");
    else if (best && e)
        text_addf(
            &t,
            "; in %d launches of its proof the steps of %s were %.1f%% %s [%.1f, %.1f], and a "
            "gain below %.1f%% would not have been proven",
            e->launches, words, 100 * fabs(expm1(e->value)), e->value < 0 ? "shorter" : "longer",
            100 * (e->value < 0 ? 0 - expm1(e->hi) : expm1(e->lo)),
            100 * (e->value < 0 ? 0 - expm1(e->lo) : expm1(e->hi)),
            -100 * expm1(e->value - e->hi - (isnan(floor) ? 0 : fabs(floor))));
    else if (best)
        text_addf(&t, "; the best left open is %s", words);
    if (best && e && uncounted)
        text_addf(&t, " (not counted: %s)", uncounted);
    text_add(&t, ".");
    if (tried && untried)
        text_addf(&t, " For %zu more there was no time.", untried);
    screen_say(t.s);
}

int tune_say_visits(const char *dir)
{
    static const char *const others[] = {TUNE_BASELINE, "control", "none", "half", "one"};
    struct visits all;
    AUTO_WORDS struct words arms = {0}, cells = {0};
    CHECK(job_recording_visits(&all, dir));
    for (size_t i = 0; i < COUNT(others); i++)
        words_add(&arms, others[i]);
    words_add(&cells, "setting, inside a launch");
    words_add(&cells, "change [95%]");
    words_add(&cells, "blocks");
    for (size_t i = 0; i < all.n; i++) {
        if (words_has(&arms, all.v[i].arm))
            continue;
        words_add(&arms, all.v[i].arm);
        struct effect e = arm_difference(&all, all.v[i].arm, NULL);
        AUTO_FREE char *name = xstrdup(all.v[i].arm); /* "NCCL_A=1/NCCL_B=2", to be pasted */
        for (char *c = name; *c; c++)
            *c = *c == '/' && isupper((unsigned char)c[1]) ? ' ' : *c;
        words_add(&cells, name);
        if (e.launches > 1)
            words_addf(&cells, "%+.1f%% [%+.1f, %+.1f]", 100 * expm1(e.value), 100 * expm1(e.lo),
                       100 * expm1(e.hi));
        else
            words_add(&cells, "-");
        words_addf(&cells, "%d", e.launches);
    }
    visits_free(&all);
    text_table_print(&cells, 3, 1, NULL);
    screen_say(
        "These numbers choose a setting and do not prove it. tune proves one in new launches, "
        "whose recording is another one.");
    return GS_OK;
}

/* ---- the figure ---- */

#define BARS 12 /* at most */

struct bar {
    char *name;
    double s, lo, hi; /* the step in seconds, and its interval */
    const char *remark;
    bool proven;
};

struct bars {
    struct bar v[BARS + 1];
    size_t n;
    double longest, compute_s; /* compute_s: of a step; NaN: unknown */
};

static void free_bars(struct bars *b)
{
    for (size_t i = 0; i < b->n; i++)
        free(b->v[i].name);
}

static void add_bar(struct bars *b, const struct tune_result *r, size_t i)
{
    const struct race_entry *raced = &r->race->v[i];
    struct effect e = raced->effect;
    struct bar bar = {.remark = ""};
    if (raced->way == IN_LAUNCHES && e.launches == 1) {
        e.lo = e.hi = NAN; /* it has no interval of its own */
        bar.remark = " in one launch";
    }
    if (r->winner == i && r->proof && r->proof->launches > 1) {
        e = *r->proof;
        bar.proven = r->proven;
        bar.remark = r->proven ? " proven" : " in its proof, not proven";
    }
    if (isnan(e.value) || !race_is_measured(raced) || b->n > BARS)
        return;
    bar.name = tune_setting_words(&r->race->set.v[i]);
    bar.s = r->step_s * exp(e.value);
    bar.lo = r->step_s * exp(e.lo);
    bar.hi = r->step_s * exp(e.hi);
    b->longest = fmax(b->longest, bar.s);
    size_t k = b->n++;
    for (; k > 1 && b->v[k - 1].s > bar.s; k--)
        b->v[k] = b->v[k - 1];
    b->v[k] = bar;
}

static void make_bars(struct bars *b, const struct tune_result *r)
{
    double share = r->price->known ? fmin(1, fmax(0, r->price->none.value)) : (double)NAN;
    *b = (struct bars){
        .n = 1, .longest = fmax(1e-9, r->step_s), .compute_s = r->step_s * (1 - share)};
    b->v[0] = (struct bar){xstrdup("the job as it is"), r->step_s, NAN, NAN, "", false};
    for (size_t i = 1; i < r->race->set.n; i++)
        if (!r->race->v[i].failed)
            add_bar(b, r, i);
}

#define BAR_COLUMNS 24
#define NAME_COLUMNS 46 /* a longer name has a line of its own */

void tune_bars(const struct tune_result *r)
{
    struct bars b;
    size_t width = 0;
    make_bars(&b, r);
    double scale = BAR_COLUMNS / b.longest;
    for (size_t i = 0; i < b.n; i++) {
        size_t n = strlen(b.v[i].name);
        width = n > width && n <= NAME_COLUMNS ? n : width;
    }
    if (b.n > 1)
        printf("%-*s  %s\n", (int)width, "",
               isnan(b.compute_s) ? "step" : "step: # compute, = communication");
    for (size_t i = 0; i < b.n && b.n > 1; i++) {
        char bar[BAR_COLUMNS + 1];
        int n = (int)lround(b.v[i].s * scale);
        int compute = isnan(b.compute_s) ? n : (int)lround(b.compute_s * scale);
        for (int k = 0; k < BAR_COLUMNS; k++)
            bar[k] = k >= n ? ' ' : k < compute ? '#' : '=';
        bar[BAR_COLUMNS] = '\0';
        bool fits = strlen(b.v[i].name) <= width;
        if (!fits)
            puts(b.v[i].name);
        printf("%-*s  %s %.4g ms", (int)width, fits ? b.v[i].name : "", bar, 1e3 * b.v[i].s);
        if (!isnan(b.v[i].lo))
            printf(" [%.4g, %.4g]", 1e3 * b.v[i].lo, 1e3 * b.v[i].hi);
        puts(b.v[i].remark);
    }
    free_bars(&b);
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

int tune_svg(const struct tune_result *r, const char *file)
{
    struct bars b;
    AUTO_TEXT struct text t = {0}, rows = {0};
    make_bars(&b, r);
    double scale = SVG_BARS / b.longest, y = 34;
    for (size_t i = 0; i < b.n; i++, y += SVG_ROW) {
        const struct bar *bar = &b.v[i];
        double s = bar->s * scale, compute = isnan(b.compute_s) ? s : fmin(s, b.compute_s * scale);
        y = add_name(&rows, y, bar->name);
        add_rect(&rows, SVG_LEFT, y, compute, "#4477aa");
        add_rect(&rows, SVG_LEFT + compute, y, s - compute, bar->proven ? "#ccbb44" : "#99c2e0");
        if (!isnan(bar->lo))
            text_addf(&rows,
                      "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"black\"/>\n",
                      SVG_LEFT + bar->lo * scale, SVG_LEFT + bar->hi * scale, y + 8, y + 8);
        text_addf(
            &rows, "<text x=\"%.1f\" y=\"%.1f\">%.4g ms%s%s</text>\n",
            fmax(SVG_LEFT + SVG_BARS + 24, isnan(bar->hi) ? 0 : SVG_LEFT + bar->hi * scale + 8),
            y + 13, 1e3 * bar->s, *bar->remark ? "," : "", bar->remark);
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
