/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/term.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/collect.h"
#include "compare/setting.h"
#include "compare/verdicts.h"
#include "config/locate.h"
#include "job/price.h"
#include "job/tune.h"
#include "job/tune_answer.h"
#include "record/host_load.h"
#include "record/runs.h"
#include "reduce/axes.h"
#include "reduce/summary.h"
#include "store/contrasts.h"
#include "verbs/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- filter ---- */

/* Keeps the contrasts of this mode, or of this config (NULL: all). Verdicts are computed first, so a
 * filter changes no number. GS_OK; or GS_USAGE, reported: a value that no contrast has. */
static int keep(struct comparison *c, const char *option, const char *wanted)
{
    AUTO_WORDS struct words values = {0};
    AUTO_TEXT struct text list = {0};
    size_t kept = 0;
    if (!wanted || !c->n)
        return GS_OK;
    for (size_t i = 0; i < c->n; i++) {
        const struct contrast *one = &c->v[i];
        /* Of a mode that is none the name is the level: an operation alone, a trial, a training. */
        const char *value = !strcmp(option, "config") ? one->config
                            : *one->mode              ? one->mode
                                                      : level_names[contrast_level(one)];
        words_add_once(&values, value);
        if (!strcmp(value, wanted))
            c->v[kept++] = *one;
    }
    for (size_t i = 0; i < values.n; i++)
        text_addf(&list, "%s%s", i ? ", " : "", values.v[i]);
    c->n = kept;
    return kept ? GS_OK
                : fail(GS_USAGE, "compare: nothing matches --%s %s; choose %s", option, wanted,
                       list.s);
}

/* ---- what is compared ---- */

struct compare_request {
    const char *baseline, *mode, *config;
    bool all;
    char **args;
    size_t n;
    struct words tuned; /* runs whose answer by tune was printed */
};

/* Adds the contrasts inside each run that was chosen. Every damaged run is named. */
static int compare_inside(struct comparison *c, const struct compare_request *q,
                          const struct choice *choice)
{
    int code = GS_OK;
    for (size_t i = 0; i < choice->runs.n && code != GS_USAGE; i++) {
        int one = compare_within_run(c, choice->runs.v[i].dir, q->baseline);
        code = code ? code : one;
    }
    return code;
}

/* Adds the contrasts that the request asks for. *choice gets the runs whose load matters. */
static int compare_collect(struct comparison *c, const struct compare_request *q,
                           struct choice *choice)
{
    const char *const *args = (const char *const *)q->args;
    if (q->n == 2) {
        CHECK(compare_between_runs(c, args[0], args[1]));
        choice->runs.unsorted = true;
        for (size_t i = 0; i < q->n; i++)
            CHECK(runs_find(&choice->runs, args[i]));
        return GS_OK;
    }
    CHECK(runs_choose(choice, args, q->n));
    runs_choice_say(choice);
    return compare_inside(c, q, choice);
}

/* Says why there is no contrast. */
static int compare_nothing(const struct compare_request *q, const struct choice *choice)
{
    const char *below = q->n ? q->args[0] : choice->platform ? choice->platform : LOCATE_DATA;
    if (q->baseline)
        return fail(GS_USAGE, "compare: no recording of %s has a config '%s' beside another one",
                    below, q->baseline);
    say("nothing to compare: no recording below %s has two configs of equal size and mode; to "
        "compare two runs: gradsync compare A B; to join files into one run: gradsync import "
        "--as-launches",
        below);
    return GS_OK;
}

/* ---- the answer ---- */

struct line { /* of a question: the winner of a group, or a contrast */
    const struct contrast *c;
    const char *config, *word;
    bool numbers; /* c holds the numbers of this config */
    double size;  /* of a difference that was shown; 0: none */
    char *note;   /* owned */
};

struct question {             /* a run and a mode */
    const struct contrast *c; /* the first of the highest rank */
    struct line *v;
    size_t n, faster, slower, settled, small, open;
};

struct questions {
    struct question *v;
    size_t n, lines;
};

/* The highest level of evidence first; inside a level, the whole step says most about a training. */
static int rank_of(const struct contrast *c)
{
    static const char *const order[] = {"overlapped", "sequential", "", "comm"};
    int i = 0, n = COUNT(order);
    while (i < n && strcmp(order[i], c->mode))
        i++;
    return (n + 1) * (LEVELS - (int)contrast_level(c)) + i;
}

/* The largest differences first, the others as they come. */
static void add_line(struct questions *all, struct line line)
{
    size_t k = 0;
    while (k < all->n && !contrasts_of_one_question(all->v[k].c, line.c))
        k++;
    if (k == all->n)
        APPEND(all->v, all->n) = (struct question){.c = line.c};
    struct question *q = &all->v[k];
    q->c = rank_of(line.c) < rank_of(q->c) ? line.c : q->c;
    q->faster += line.size > 0 && line.c->judgement.verdict == VERDICT_FASTER;
    q->slower += line.size > 0 && line.c->judgement.verdict == VERDICT_SLOWER;
    q->settled += !strcmp(line.word, "confirmed");
    q->small += line.c->judgement.small < 0;
    q->open += !strcmp(line.word, "inconclusive");
    APPEND(q->v, q->n) = line;
    for (k = q->n - 1; k > 0 && q->v[k - 1].size < line.size; k--)
        q->v[k] = q->v[k - 1];
    q->v[k] = line;
    all->lines++;
}

/* Questions of equal rank stay in their order. */
static void sort_questions(struct questions *all)
{
    for (size_t i = 1; i < all->n; i++) {
        struct question q = all->v[i];
        size_t k = i;
        for (; k > 0 && rank_of(all->v[k - 1].c) > rank_of(q.c); k--)
            all->v[k] = all->v[k - 1];
        all->v[k] = q;
    }
}

static void questions_free(struct questions *all)
{
    for (size_t i = 0; i < all->n; i++) {
        for (size_t k = 0; k < all->v[i].n; k++)
            free(all->v[i].v[k].note);
        free(all->v[i].v);
    }
    free(all->v);
}

/* The platform stands where it changes, the run where several answer the same question. */
static void name_question(struct text *t, const struct questions *all, size_t i)
{
    const struct contrast *c = all->v[i].c;
    size_t twins = 0;
    for (size_t k = 0; k < all->n; k++)
        twins += contrasts_of_one_section(all->v[k].c, c) && !strcmp(all->v[k].c->mode, c->mode);
    if (!i || strcmp(all->v[i - 1].c->platform, c->platform) != 0)
        text_addf(t, "%s ", c->platform);
    text_addf(t, "%s%s%s%s%s, %s%s%s: ", c->workload, *c->label ? " " : "", c->label,
              *c->mode ? " " : "", c->mode, level_names[contrast_level(c)], twins > 1 ? " " : "",
              twins > 1 ? c->run_id : "");
}

/* The recordings of tune call the job as it is auto. */
static char *base_words(const struct contrast *c)
{
    bool as_is = contrast_level(c) == LEVEL_TRAINING && !strcmp(c->baseline, "auto");
    return xstrfmt("%s%s", c->baseline, as_is ? " (the job as it is)" : "");
}

static void tell_best(struct text *t, const struct question *q)
{
    bool alone = contrast_level(q->c) == LEVEL_ALONE;
    AUTO_FREE char *base = base_words(q->c);
    text_addf(t, q->faster ? "a config beats %s in %zu of %zu %s" : "%s is beaten in %zu of %zu %s",
              base, q->faster, q->n, alone ? "groups" : "steps");
    if (q->faster)
        text_addf(t, ", %s by %.1f%%", q->v[0].c->config, 100 * (1 - exp(q->v[0].c->effect.value)));
    if (q->small)
        text_addf(t, ", by less than %.3g%% in %zu", 100 * q->c->bound, q->small);
    if (!q->faster)
        text_addf(t, ", confirmed best in %zu, inconclusive in %zu", q->settled, q->open);
}

static void tell_each(struct text *t, const struct question *q)
{
    bool one_config = true;
    AUTO_FREE char *base = base_words(q->c);
    size_t same = q->n - q->slower - q->faster - q->open;
    AUTO_FREE char *small = q->small ? xstrfmt(" (%zu of them shorter by less than %.3g%%)",
                                               q->small, 100 * q->c->bound)
                                     : xstrdup("");
    for (size_t i = 1; i < q->n; i++)
        one_config = one_config && !strcmp(q->v[i].c->config, q->c->config);
    if (one_config)
        text_addf(t,
                  "%s is slower than %s in %zu of %zu, faster in %zu, equivalent in %zu%s, "
                  "inconclusive in %zu",
                  q->c->config, base, q->slower, q->n, q->faster, same, small, q->open);
    else
        text_addf(t, "%zu of %zu slower than %s, %zu faster, %zu equivalent%s, %zu inconclusive",
                  q->slower, q->n, base, q->faster, same, small, q->open);
}

static void print_lines_of(const struct question *q, bool winners)
{
    const char *const titles[] = {"  where", winners ? "fastest" : "config", "change [95%]", "A/A",
                                  "verdict", winners ? "slower" : "note"};
    AUTO_WORDS struct words cells = {0};
    struct axes axes = {0};
    for (size_t i = 0; i < COUNT(titles); i++)
        words_add(&cells, titles[i]);
    for (size_t i = 0; i < q->n; i++) {
        axes_config(&axes, q->v[i].c->baseline, "");
        axes_config(&axes, q->v[i].c->config, q->v[i].c->params);
    }
    for (size_t i = 0; i < q->n; i++)
        axes_add(&axes, q->v[0].c->params, q->v[i].c->params);
    for (size_t i = 0; i < q->n; i++) {
        const struct line *l = &q->v[i];
        const struct effect *e = &l->c->effect;
        AUTO_FREE char *where = axes_where(&axes, "", l->c->params); /* "gemms=4" */
        bool sized = l->c->size_B, any = strcmp(where, "-") != 0;
        words_addf(&cells, "  %s%s%s", sized ? SHORT_SIZE(l->c->size_B) : "",
                   sized && any ? " " : "", any || !sized ? where : "");
        words_add(&cells, *l->config ? l->config : "-");
        if (l->numbers && !isnan(e->value))
            words_addf(&cells, "%+.1f%% [%+.1f, %+.1f]", 100 * expm1(e->value), 100 * expm1(e->lo),
                       100 * expm1(e->hi));
        else
            words_add(&cells, "-");
        if (isnan(l->c->floor))
            words_add(&cells, l->c->no_floor ? "no floor" : "-");
        else
            words_addf(&cells, "%.1f%%", 100 * expm1(l->c->floor));
        words_add(&cells, l->word);
        words_add(&cells, *l->note ? l->note : "-");
    }
    text_table_print(&cells, COUNT(titles), 1, NULL);
}

/* ---- what to set ---- */

/* How a config did in the groups of a question. */
struct tally {
    const struct contrast *win; /* that with the largest lower bound of its gain; NULL: none */
    size_t wins, losses;
    double low, high; /* gains over all its wins, relative */
};

static struct tally tally_of(const struct comparison *c, const struct contrast *question,
                             const char *config)
{
    struct tally t = {.low = INFINITY, .high = -INFINITY};
    double best = -INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        const struct contrast *one = &c->v[i];
        double low = -expm1(one->effect.hi), high = -expm1(one->effect.lo);
        if (!contrasts_of_one_question(one, question) || strcmp(one->config, config) != 0)
            continue;
        t.losses += one->judgement.verdict == VERDICT_SLOWER;
        if (one->judgement.verdict != VERDICT_FASTER)
            continue;
        t.wins++;
        t.low = fmin(t.low, low);
        t.high = fmax(t.high, high);
        if (low > best) {
            best = low;
            t.win = one;
        }
    }
    return t;
}

/* The config that was shown to be faster in one group or more and slower in none; of several, the one
 * with the largest lower bound of its gain. No win: change nothing. */
static struct tally what_to_set(const struct comparison *c, const struct contrast *question)
{
    struct tally best = {0};
    for (size_t i = 0; i < c->n; i++) {
        if (c->v[i].judgement.verdict != VERDICT_FASTER ||
            !contrasts_of_one_question(&c->v[i], question))
            continue;
        struct tally t = tally_of(c, question, c->v[i].config);
        if (!t.losses && (!best.win || t.win->effect.hi < best.win->effect.hi))
            best = t;
    }
    return best;
}

/* The last lines of the answer: for each question the config to set, or "change nothing". */
static void print_what_to_set(const struct comparison *shown, const struct questions *all)
{
    bool job = true;
    for (size_t i = 0; i < all->n; i++) {
        const struct question *q = &all->v[i];
        const char *groups = contrast_level(q->c) == LEVEL_ALONE ? "group" : "step",
                   *plural = q->n == 1 ? "" : "s";
        struct tally t = what_to_set(shown, q->c);
        AUTO_TEXT struct text line = {0};
        text_add(&line, "What to set, ");
        name_question(&line, all, i);
        if (t.win) {
            AUTO_FREE char *words = setting_export_line(t.win);
            bool more =
                words && strcmp(words, t.win->config) != 0; /* ctas=32 (NCCL_MIN_CTAS=32 …) */
            char span[64];
            text_addf(&line, "%s%s%s%s, %s shorter in %zu of %zu %s%s, longer in none",
                      t.win->config, more ? " (" : "", more ? words : "", more ? ")" : "",
                      judgement_span(span, sizeof span, t.low, t.high), t.wins, q->n, groups,
                      plural);
        } else {
            text_add(&line, "change nothing");
            if (q->open)
                text_addf(&line, "; inconclusive in %zu of %zu %s%s", q->open, q->n, groups,
                          plural);
        }
        screen_say(line.s);
        job = job && contrast_level(q->c) >= LEVEL_TRIAL;
    }
    AUTO_FREE char *tune = err_as_called("gradsync tune -- COMMAND");
    if (!job)
        printf("Only your job tells whether its own step gets shorter: %s\n", tune);
}

/* The answer: for each question (a run and a mode) a sentence, and below it one line for the best config
 * of each group, or for each contrast if winners is NULL, the largest differences first. Modes are
 * different questions and are never counted together. */
static void print_answer(const struct comparison *shown, const struct winners *winners,
                         bool within_runs)
{
    AUTO(questions_free) struct questions all = {0};
    for (size_t i = 0; !winners && i < shown->n; i++) {
        const struct contrast *c = &shown->v[i];
        enum verdict v = c->judgement.verdict;
        add_line(&all, (struct line){c, c->config, v == VERDICT_SAME ? "same" : verdict_names[v],
                                     true, verdict_is_difference(v) ? fabs(c->effect.value) : 0,
                                     contrast_reason(c)});
    }
    for (size_t i = 0; winners && i < winners->n; i++) {
        const struct winner *w = &winners->v[i];
        const struct contrast *c = w->best ? w->best : w->small;
        /* How many of the other configs were shown to be slower; --all has their names. */
        if (comparison_has_family(shown, w->first->family))
            add_line(&all, (struct line){c ? c : w->first, winner_shown(w), winner_verdict(w), c,
                                         w->best ? fabs(c->effect.value) : 0,
                                         xstrfmt("%zu/%zu", w->counts[VERDICT_SLOWER], w->rivals)});
    }
    sort_questions(&all);
    for (size_t i = 0; i < all.n; i++) {
        AUTO_TEXT struct text t = {0};
        name_question(&t, &all, i);
        if (winners)
            tell_best(&t, &all.v[i]);
        else
            tell_each(&t, &all.v[i]);
        printf("%s", term_bold(stdout));
        screen_wrap(0, 2, screen_columns(stdout), t.s);
        printf("%s", term_end(stdout));
        print_lines_of(&all.v[i], winners);
    }
    if (all.lines < shown->n)
        printf("--all prints every contrast; --mode, --config choose\n");
    if (within_runs)
        print_what_to_set(shown, &all);
}

/* ---- contrasts ---- */

/* The price in the run of this contrast. */
static int print_price(const struct choice *choice, const struct contrast *c)
{
    for (size_t i = 0; i < choice->runs.n; i++) {
        struct price_answer a = {0};
        const char *dir = choice->runs.v[i].dir;
        int code = strcmp(path_name(dir), c->run_id) ? GS_OK : price_read(&a, dir);
        AUTO_FREE char *sentence = a.known ? price_sentence(&a) : NULL;
        if (sentence)
            screen_say(sentence);
        if (sentence && !a.launches)
            screen_say(PRICE_OF_ONE);
        bool none = !a.known && *a.why;
        if (none)
            say("%s: no price: %s", c->run_id, a.why);
        if (code || sentence || none)
            return code;
    }
    say("%s: the price of communication (arms none, one, half): gradsync compare --all", c->run_id);
    return GS_OK;
}

/* Is it of a launch of tune? */
static bool has_price(const struct comparison *all, const struct contrast *c)
{
    for (size_t i = 0; i < all->n; i++)
        if (contrast_level(&all->v[i]) == LEVEL_PRICE && !strcmp(all->v[i].run_id, c->run_id))
            return true;
    return false;
}

/* Leaves out the arms of a price, which are no settings, and the settings of one launch of tune, which have no verdict. */
static int take_prices(struct comparison *shown, const struct comparison *all,
                       const struct choice *choice)
{
    size_t kept = 0, n = shown->n;
    const char *visits = "";
    int code = GS_OK;
    for (size_t i = 0; i < n; i++)
        if (!code && contrast_level(&shown->v[i]) == LEVEL_PRICE &&
            !strcmp(shown->v[i].config, "none"))
            code = print_price(choice, &shown->v[i]);
    for (size_t i = 0; i < n; i++) {
        const struct contrast *c = &shown->v[i];
        bool one = contrast_level(c) == LEVEL_TRIAL && c->effect.launches < 2 && has_price(all, c);
        if (contrast_level(c) != LEVEL_PRICE && !one)
            shown->v[kept++] = shown->v[i];
        for (size_t k = 0; one && !code && strcmp(visits, c->run_id) && k < choice->runs.n; k++)
            if (!strcmp(path_name(choice->runs.v[k].dir), c->run_id)) {
                code = tune_say_visits(choice->runs.v[k].dir);
                visits = c->run_id;
            }
    }
    shown->n = kept;
    return code;
}

/* What tune printed of the folders in which it has made recordings; *tuned gets the names of these. GS_FAILED,
 * reported: one is damaged, and the others were printed. */
static int print_tuned(const struct choice *choice, struct words *tuned)
{
    AUTO_WORDS struct words folders = {0};
    int code = GS_OK;
    for (size_t i = 0; i < choice->runs.n; i++) {
        AUTO_FREE char *above = xstrfmt("%s/../..", choice->runs.v[i].dir);
        AUTO_FREE char *folder = realpath(above, NULL);
        if (folder && !words_has(&folders, folder)) {
            words_add(&folders, folder);
            int one = tune_print(folder, tuned);
            code = code ? code : one;
        }
    }
    return code;
}

static int print_contrasts(const struct compare_request *q, const struct choice *choice,
                           const struct comparison *c)
{
    /* Borrows the contrasts that match. */
    struct comparison shown = {.v = xcalloc(c->n + 1, sizeof *c->v), .families = c->families};
    AUTO_FREE struct contrast *borrowed = shown.v;
    AUTO(winners_free) struct winners winners = {0};
    AUTO(store_close) struct store s = {0};
    bool each = q->n == 2 || q->config;
    for (size_t i = 0; i < c->n; i++)
        if (!words_has(&q->tuned, c->v[i].run_id))
            shown.v[shown.n++] = c->v[i];
    CHECK(keep(&shown, "mode", q->mode));
    CHECK(keep(&shown, "config", q->config));
    if (!each && !q->all)
        winners_find(&winners, c, 0);
    if (q->all) {
        CHECK(store_open(&s, NULL));
        CHECK(contrasts_put(&s, &shown));
        CHECK(contrasts_print(&s));
    } else {
        if (q->n != 2)
            CHECK(take_prices(&shown, c, choice));
        /* Of two configs that were measured, neither is the best of many: one line says how they differ. */
        bool pair = c->n;
        for (size_t i = 1; i < c->n; i++)
            pair = pair && !strcmp(c->v[i].config, c->v[0].config) &&
                   !strcmp(c->v[i].baseline, c->v[0].baseline);
        if (shown.n)
            print_answer(&shown, each || pair ? NULL : &winners, q->n != 2);
    }
    return GS_OK;
}

/* ---- the verb ---- */

static int compare(void *request, char **words, int n)
{
    struct compare_request *q = request;
    q->args = words;
    q->n = (size_t)n;
    if (q->baseline && n == 2)
        return fail(GS_USAGE, "compare: --baseline compares configs of a run; it excludes A B");
    AUTO(comparison_free) struct comparison c = {0};
    AUTO(runs_choice_free) struct choice choice = {0};
    bool plain = n < 2 && !q->all && !q->baseline && !q->mode && !q->config;
    AUTO_FREE char *run = n == 1 ? locate_run(words[0]) : NULL;
    if (plain && run && tune_is_run(run))
        return tune_print(run, &q->tuned);
    CHECK(compare_collect(&c, q, &choice));
    int damaged = plain && !(run && runs_is_run(run)) ? print_tuned(&choice, &q->tuned) : GS_OK;
    c.without_aa = !q->all; /* only placebo_put() asks */
    comparison_solve(&c, 0);
    size_t single = 0;
    for (size_t i = 0; i < c.n; i++)
        single += c.v[i].effect.launches == 1 && contrast_level(&c.v[i]) != LEVEL_TRIAL &&
                  contrast_level(&c.v[i]) != LEVEL_PRICE && !words_has(&q->tuned, c.v[i].run_id);
    int code = c.n          ? print_contrasts(q, &choice, &c)
               : q->tuned.n ? GS_OK
                            : compare_nothing(q, &choice);
    if (single)
        say("%zu contrast%s come%s from one launch, so no verdict holds for other launches; "
            "measure 5 or more",
            single, single == 1 ? "" : "s", single == 1 ? "s" : "");
    CHECK(code);
    AUTO_FREE const char **dirs = xcalloc(choice.runs.n + 1, sizeof *dirs);
    for (size_t i = 0; i < choice.runs.n; i++)
        dirs[i] = choice.runs.v[i].dir;
    host_load_warn(dirs, choice.runs.n);
    return damaged;
}

int cmd_compare(int argc, char **argv)
{
    struct compare_request q = {0};
    const struct cli_option options[] = {
        {"all", 'a', CLI_FLAG, &q.all, NULL,
         "print every contrast (default: one line for each step)"},
        {"mode", 0, CLI_TEXT, &q.mode, "MODE",
         "print only this mode: compute, comm, sequential or overlapped of a step; alone: "
         "operations without a step; trial or training: your own job"},
        {"config", 0, CLI_TEXT, &q.config, "CONFIG", "print only this config"},
        {"baseline", 0, CLI_TEXT, &q.baseline, "CONFIG",
         "compare with this config (default: the baseline of the run)"},
        {0},
    };
    const struct cli cli = {
        .arguments = "[PLATFORM | RAW… | A B]",
        .summary = "Finds the fastest config of each group, against the baseline, or compares run "
                   "B with run A. RAW is a run or a folder of runs, A and B are runs. The name "
                   "of a platform means its latest runs (default: the platform of the latest run "
                   "of this machine).",
        .example = "gradsync compare h200-4gpu --mode overlapped",
        .options = options,
        .args = {0, -1}};
    int code = cli_request(&cli, argc, argv, compare, &q);
    words_free(&q.tuned);
    return code;
}
