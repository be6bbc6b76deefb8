/* SPDX-License-Identifier: Apache-2.0 */
#include "job/tune_answer.h"

#include "base/err.h"
#include "base/files.h"
#include "base/screen.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "base/units.h"
#include "job/trial.h"
#include "job/trial_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ==== tune_answer ==== */

json_t *tune_price_json(const struct tune_price *p)
{
    return json_pack("{sb sf sf sf sf sf sf sf}", "known", p->known, "step_s", p->step_s, "none",
                     p->none, "none_lo", p->none_lo, "none_hi", p->none_hi, "half", p->half,
                     "waiting", p->waiting, "noise", p->noise);
}

void tune_price_read(struct tune_price *p, const json_t *o)
{
    int known = 0;
    *p = (struct tune_price){0};
    if (o)
        json_unpack((json_t *)o, "{sb sf sf sf sf sf sf sf}", "known", &known, "step_s", &p->step_s,
                    "none", &p->none, "none_lo", &p->none_lo, "none_hi", &p->none_hi, "half",
                    &p->half, "waiting", &p->waiting, "noise", &p->noise);
    p->known = known;
}

/* ---- sentences ---- */

void tune_say_price(const struct tune_price *p)
{
    char *s = xstrfmt(
        "Communication costs %.1f%% [%.1f, %.1f] of the step (%s of %s). With half the bytes the "
        "step is %.1f%% %s. Waiting for other ranks: %.1f%%.",
        100 * p->none, 100 * p->none_lo, 100 * p->none_hi, HUMAN_TIME(fmax(0, p->none) * p->step_s),
        HUMAN_TIME(p->step_s), 100 * fabs(p->half), p->half < 0 ? "longer" : "shorter",
        100 * p->waiting);
    screen_say(s);
    free(s);
}

bool tune_say_worthless(const struct tune_price *p, double worth)
{
    if (!p->known || p->none_hi >= worth)
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
    bool unset = !strcmp(value, "unset");
    if (python && unset)
        printf("os.environ.pop(\"%.*s\", None)\n", n, v);
    else if (python)
        printf("os.environ[\"%.*s\"] = \"%s\"\n", n, v, value);
    else if (unset)
        printf("unset %.*s\n", n, v);
    else
        printf("export %.*s=%s\n", n, v, SHELL_WORD(value));
}

/* How the code of a job says what a switch did. */
static void put_switch(const char *v, const char *before)
{
    static const struct {
        const char *name, *code;
    } known[] = {
        {"bucket_cap_mb=", "DistributedDataParallel(..., bucket_cap_mb=%s)"},
        {"gradient_as_bucket_view=", "DistributedDataParallel(..., gradient_as_bucket_view=True)"},
        {"static_graph=", "DistributedDataParallel(..., static_graph=True)"},
        {"reshard_after_forward=", "fully_shard(..., reshard_after_forward=False)"},
        {"prefetch=", "module.set_modules_to_forward_prefetch(the next %s), and backward"},
        {"bf16_gradients=", "model.register_comm_hook(None, default_hooks.bf16_compress_hook)  # "
                            "changes the arithmetic"},
        {"bind=", "bind each rank to the processors of its GPU's NUMA node"},
    };
    for (size_t i = 0; i < COUNT(known); i++)
        if (!strncmp(v, known[i].name, strlen(known[i].name))) {
            const char *at = strstr(known[i].code, "%s");
            printf("%s%.*s%s%s\n", before, (int)(at ? at - known[i].code : 1000), known[i].code,
                   at ? strchr(v, '=') + 1 : "", at ? at + 2 : "");
        }
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
    for (size_t i = 0; i < s->torch.n; i++)
        put_switch(s->torch.v[i], python ? "" : "# in the code: ");
}

void tune_say_proven(const struct tune_setting *s, const struct effect *e,
                     const struct tune_price *p, const char *form)
{
    AUTO_FREE char *words = tune_setting_words(s);
    AUTO_TEXT struct text t = {0};
    bool only_without = !strncmp(words, "without ", 8);
    text_addf(&t,
              "%s%s: steps %.1f%% shorter [%.1f, %.1f], proven in %d launches that did not "
              "choose it",
              only_without ? "Run " : "Set ", words, -100 * expm1(e->value), -100 * expm1(e->hi),
              -100 * expm1(e->lo), e->launches);
    if (p->known && p->none > 0)
        text_addf(&t, "; this gets back %.0f%% of what communication costs",
                  fmin(100, -100 * expm1(e->value) / p->none));
    text_add(&t, ".");
    screen_say(t.s);
    if (s->lossy)
        screen_say("This setting changes the arithmetic: the gradients are rounded to bf16.");
    emit(s, form);
}

void tune_say_nothing(const struct tune_settings *s, size_t tried, double worth, size_t best,
                      const struct effect *e)
{
    AUTO_TEXT struct text t = {0};
    AUTO_FREE char *words = best ? tune_setting_words(&s->v[best]) : NULL;
    text_addf(&t, "No setting of %zu was shown to shorten the step by %.3g%%", tried, 100 * worth);
    if (best && e && !isnan(e->value))
        text_addf(&t, "; the best left open is %s: %+.1f%% [%+.1f, %+.1f] in %d launches", words,
                  100 * expm1(e->value), 100 * expm1(e->lo), 100 * expm1(e->hi), e->launches);
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
    text_addf(names, "name[%d] = \"%s\"\n", row, name);
    text_addf(bars, "%d %.9g %.9g %.9g %d\n", row, base_s * exp(value), base_s * exp(lo),
              base_s * exp(hi), proven);
}

/* By their effect; returns how many. */
static size_t measured(size_t *order, const struct race *r)
{
    size_t n = 0;
    for (size_t i = 1; i < r->n; i++)
        if (r->v[i].n && !r->v[i].failed) {
            size_t k = n++;
            for (; k && r->v[order[k - 1]].effect > r->v[i].effect; k--)
                order[k] = order[k - 1];
            order[k] = i;
        }
    return n < BARS ? n : BARS;
}

static void put_head(struct text *t, const char *platform, long long ranks, long long nodes,
                     const struct tune_price *p, double base_s, size_t rows)
{
    text_addf(t, "platform = \"%s\"\nranks = %lld\nnodes = %lld\nbase = %.9g\nrows = %zu\n",
              platform, ranks, nodes, base_s, rows);
    if (p->known)
        text_addf(t,
                  "share = %.9g\nshare_lo = %.9g\nshare_hi = %.9g\n$share_of << EOD\n0 %.9g\n0.5 "
                  "%.9g\n1 %.9g\nEOD\n",
                  p->none, p->none_lo, p->none_hi, p->step_s * (1 - p->none),
                  p->step_s * (1 - p->half), p->step_s);
    else
        text_add(t, "share = NaN\n");
}

bool tune_plot(const char *dir, const char *platform, long long ranks, long long nodes,
               const struct tune_settings *s, const struct race *r, const struct tune_price *p,
               double base_s, size_t winner, const struct effect *proof)
{
    AUTO_TEXT struct text t = {0}, names = {0}, bars = {0};
    AUTO_FREE size_t *order = xcalloc(r->n + 1, sizeof *order);
    AUTO_FREE char *path = xstrfmt("%s/setting.plot", dir);
    size_t n = measured(order, r);
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

/* ==== tune_price ==== */

#define ARMS 5      /* visits of a block: auto twice, none, one, half */
#define BLOCKS 16   /* that the time should be enough for */
#define VISIT_S 2.0 /* at most */
#define STEPS_LEAST 5
#define STEPS_MOST 250

/* Visits short enough for BLOCKS in the time, and blocks few enough for it. */
static void shape(struct trial_options *o, const struct tune_price_request *q)
{
    double visit_s = fmin(VISIT_S, q->left_s / (ARMS * BLOCKS));
    double steps = q->step_s > 0 ? ceil(visit_s / q->step_s) : STEPS_LEAST;
    steps = fmin(fmax(steps, STEPS_LEAST), STEPS_MOST);
    double block_s = ARMS * steps * fmax(q->step_s, 1e-6);
    o->steps.value = (long)steps;
    o->blocks.value = (long)fmin(fmax(q->left_s / block_s, 6), 1000);
    o->seconds = (long)ceil(q->left_s);
}

static void take(struct tune_price *p, const struct price_answer *a)
{
    *p = (struct tune_price){.known = a->known,
                             .step_s = a->step_s,
                             .none = a->none.value,
                             .none_lo = a->none.lo,
                             .none_hi = a->none.hi,
                             .half = a->half.value,
                             .waiting = a->waiting.value,
                             .noise = a->noise};
}

int tune_price_take(struct tune_price *p, const struct tune_price_request *q, char **run)
{
    struct price_answer a = {0};
    struct trial_options o = {.platform = q->platform,
                              .out = q->out,
                              .launches = {1, 1, 1},
                              .visit_s = {1, 1, 1},
                              .warmup = {10, 0, 1000},
                              .deadline = {20, 1, 1000},
                              .seed = {q->seed, 0, q->seed},
                              .calls = {q->calls, 0, 32768},
                              .log = q->log};
    char *line[] = {(char *)"sh", (char *)"-c", q->command[0], NULL};
    bool quoted = !q->command[1] && q->command[0][0]; /* one word: a line for a shell */
    shape(&o, q);
    int code = price_measure(&o, quoted ? line : q->command, &a);
    take(p, &a);
    *run = a.run;
    a.run = NULL;
    if (!p->known && a.captured)
        say("tune: no price: the collectives are in a CUDA graph, in which nothing can be left "
            "out");
    else if (!p->known)
        say("tune: no price: %s", *a.why ? a.why : "the job ended before it was known");
    else if (p->noise > 0.02)
        say("tune: the steps of this job vary, so a difference of less than %.1f%% cannot be seen; "
            "a likely reason is the host: see whether a smaller batch makes the step shorter",
            100 * p->noise);
    price_free(&a);
    return code == GS_USAGE ? code : GS_OK; /* without a price there may be a setting */
}
