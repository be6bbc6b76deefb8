/* SPDX-License-Identifier: Apache-2.0 */
#include "job/tune_answer.h"

#include "base/err.h"
#include "base/files.h"
#include "base/shell.h"
#include "base/term.h"
#include "base/text.h"
#include "base/units.h"

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

void tune_say_price(const struct price_answer *p, const char *run)
{
    AUTO_FREE char *sentence = p->known ? price_sentence(p) : NULL, *noise = price_noise(p);
    AUTO_FREE char *caveat = sentence ? price_caveat(p, run) : NULL;
    if (noise)
        say("tune: %s", noise);
    if (sentence) {
        screen_say(sentence);
        if (caveat)
            screen_say(caveat);
    } else
        say("tune: no price: %s", *p->why ? p->why : "the job ended before it was known");
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

static const char *const forms[] = {"env", "pytorch", "sbatch"};

int tune_emit_known(const char *form)
{
    for (size_t i = 0; i < COUNT(forms); i++)
        if (!strcmp(forms[i], form))
            return GS_OK;
    return fail(GS_USAGE, "tune: --emit '%s': must be env, pytorch or sbatch", form);
}

static void put_variable(const char *v, bool python)
{
    const char *value = v + strcspn(v, "=") + 1;
    int n = (int)(value - v - 1);
    AUTO_TEXT struct text quoted = {0};
    python_quote(&quoted, value);
    bool unset = !strcmp(value, "unset");
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

static void emit(const struct tune_setting *s, const char *form)
{
    bool python = !strcmp(form, "pytorch");
    if (python && s->variables.n)
        puts("import os  # before torch.distributed.init_process_group()");
    if (!strcmp(form, "sbatch"))
        puts("# in the job script, before srun, which passes these variables on");
    for (size_t i = 0; i < s->variables.n; i++)
        put_variable(s->variables.v[i], python);
    for (size_t i = 0; i < s->torch.n; i++) {
        AUTO_FREE char *code = tune_switch_code(s->torch.v[i]);
        printf("%s%s\n", python ? "" : "# in the code: ", code);
    }
}

void tune_say_proven(const struct tune_setting *s, const struct effect *e, size_t failed,
                     const struct price_answer *p, const char *form)
{
    AUTO_FREE char *words = tune_setting_words(s);
    AUTO_TEXT struct text t = {0};
    bool only_without = !strncmp(words, "without ", 8);
    text_addf(&t,
              "%s%s: steps %.1f%% shorter [%.1f, %.1f], proven in %d launches that did not "
              "choose it",
              only_without ? "Run " : "Set ", words, -100 * expm1(e->value), -100 * expm1(e->hi),
              -100 * expm1(e->lo), e->launches);
    if (failed)
        text_addf(&t, " (in %zu more it failed)", failed);
    if (p->known && p->none.value > 0)
        text_addf(&t, "; this gets back %.0f%% of what communication costs",
                  fmin(100, -100 * expm1(e->value) / p->none.value));
    text_add(&t, ".");
    screen_say(t.s);
    if (*s->changes && !s->lossy && !only_without) {
        AUTO_FREE char *changes = xstrfmt("What it changes: %s.", s->changes);
        screen_say(changes);
    }
    if (s->lossy)
        screen_say("This setting changes the arithmetic: the gradients are rounded to bf16.");
    emit(s, form);
}

void tune_say_nothing(const struct tune_settings *s, size_t tried, double worth, size_t best,
                      const struct effect *e)
{
    AUTO_TEXT struct text t = {0};
    best = tried ? best : 0;
    AUTO_FREE char *words = best ? tune_setting_words(&s->v[best]) : NULL;
    if (tried)
        text_addf(&t, "No setting of %zu was shown to shorten the step by %.3g%%", tried,
                  100 * worth);
    else
        text_addf(&t, "No setting was tried%s",
                  s->n > 1 ? ": the time was too short; use more --minutes" : "");
    if (best && e && !isnan(e->value))
        text_addf(&t, "; %s is %s: %+.1f%% [%+.1f, %+.1f] in %d launches",
                  e->value < 0 ? "the best left open" : "none looked shorter, and the nearest",
                  words, 100 * expm1(e->value), 100 * expm1(e->lo), 100 * expm1(e->hi),
                  e->launches);
    else if (best && e)
        text_addf(&t,
                  "; %s looked shorter in the race, but fewer than 2 launches of its proof "
                  "succeeded",
                  words);
    else if (best)
        text_addf(&t, "; the best left open is %s", words);
    text_add(&t, ".");
    screen_say(t.s);
}

/* ---- the figure ---- */

#define BARS 12 /* at most */

static void put_bar(struct text *names, struct text *bars, int row, const char *name, double base_s,
                    double value, double lo, double hi, bool proven)
{
    text_addf(names, "name[%d] = ", row);
    gnuplot_quote(names, name);
    text_add(names, "\n");
    text_addf(bars, "%d %.9g %.9g %.9g %d\n", row, base_s * exp(value), base_s * exp(lo),
              base_s * exp(hi), proven);
}

static void put_head(struct text *t, const char *platform, long long ranks, long long nodes,
                     const struct price_answer *p, double base_s, size_t rows)
{
    text_addf(t, "platform = \"%s\"\nranks = %lld\nnodes = %lld\nbase = %.9g\nrows = %zu\n",
              platform, ranks, nodes, base_s, rows);
    if (!p->known) {
        text_add(t, "share = NaN\n");
        return;
    }
    text_addf(t, "share = %.9g\nshare_lo = %.9g\nshare_hi = %.9g\n", p->none.value, p->none.lo,
              p->none.hi);
    if (!isnan(p->half.value))
        text_addf(t, "$share_of << EOD\n0 %.9g\n0.5 %.9g\n1 %.9g\nEOD\n",
                  p->step_s * (1 - p->none.value), p->step_s * (1 - p->half.value), p->step_s);
}

bool tune_plot(const char *dir, const char *platform, long long ranks, long long nodes,
               const struct tune_settings *s, const struct race *r, const struct price_answer *p,
               double base_s, size_t winner, const struct effect *proof)
{
    AUTO_TEXT struct text t = {0}, names = {0}, bars = {0};
    AUTO_FREE size_t *order = xcalloc(r->n + 1, sizeof *order);
    AUTO_FREE char *path = xstrfmt("%s/setting.plot", dir);
    size_t n = race_order(r, order);
    n = n < BARS ? n : BARS;
    double sum = 0;
    int rounds = 0;
    for (int k = 0; k < RACE_ROUNDS; k++)
        if (!isnan(r->v[0].log_s[k])) {
            sum += r->v[0].log_s[k];
            rounds++;
        }
    if (rounds) /* better than the first launch */
        base_s = exp(sum / rounds);
    put_head(&t, platform, ranks, nodes, p, base_s, n + 1);
    put_bar(&names, &bars, 1, "the job as it is", base_s, 0, 0, 0, false);
    for (size_t k = 0; k < n; k++) {
        size_t i = order[k];
        bool proven = winner == i && proof && !isnan(proof->value);
        AUTO_FREE char *words = tune_setting_words(&s->v[i]);
        put_bar(&names, &bars, (int)k + 2, words, base_s, proven ? proof->value : r->v[i].effect,
                proven ? proof->lo : r->v[i].lo, proven ? proof->hi : r->v[i].hi, proven);
    }
    text_addf(&t, "array name[%zu]\n%s$bars << EOD\n%sEOD\n", n + 1, names.s, bars.s);
    return files_replace(path, t.s, 0666);
}
