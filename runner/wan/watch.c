/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/watch.h"

#include "base/err.h"
#include "base/stats.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what a line says ----
 *
 * Extracts rates and step times from the lines of a training log, by patterns of common trainers or
 * by the user's own. A value may stand behind any prefix. Progress bars of loading and evaluation
 * are no steps, and a step that several lines report counts once.
 */

#define WATCH_TROUBLES_MAX 16

struct watch_trouble {
    const char *what, *text;
};

/* ---- patterns: POSIX extended, case-insensitive ---- */

#define IS "[]\"')]*[ \t:=|]+[\"']?"
#define NUMBER "([0-9][0-9,]*\\.?[0-9]*(e[+-]?[0-9]+)?[kmg]?)"
#define TIME "([0-9][0-9,]*\\.?[0-9]*(e[+-]?[0-9]+)?k?)" /* "412.3m" is the start of a unit */
#define UNIT "(us|msec|ms|milliseconds?|microseconds?|seconds?|secs?|s)"
#define END "([^a-z0-9]|$)"
/* "_ms: 1.31K", " (s): 12.01", ": 412.3 ms": groups of it, counted from the end of all groups */
#define TIME_TAIL "([ _]*(in +)?[(]?" UNIT "[)]?)?" IS TIME " ?" UNIT "?" END
enum { TAIL_GROUPS = 7, TAIL_MARK = 3, TAIL_NUMBER = 4, TAIL_UNIT = 6 };

#define TOKENS "tok(en)?s?"
#define PER "(/|_per_| per )"
#define SECOND "s(ec(ond)?s?)?"
#define DEVICE "(gpu|device|chip|rank|worker|card|npu|accelerator)"
#define STEP "(step|iteration|iter|batch)"

enum meaning {
    RATE,
    RATE_OF_GPU,
    STEP_TIME, /* with TIME_TAIL */
    MS_PER_STEP,
    STEP_BEHIND, /* a number and its unit before the word: group 1 and 3 */
    STEPS_PER_S
};

/* clang-format off */
static const struct pattern {
    const char *text;
    enum meaning meaning;
} patterns[] = {
    {TOKENS PER SECOND "([/_ ]+(per[_ ])?" DEVICE ")s?" IS NUMBER, RATE_OF_GPU},
    {TOKENS PER DEVICE PER SECOND IS NUMBER, RATE_OF_GPU}, /* InternLM */
    {"(" DEVICE "[/_.]|per[ _-]" DEVICE "[/_. :-]+)(train[_/ ]|throughput[_/ ])?" TOKENS PER SECOND IS NUMBER, RATE_OF_GPU}, /* Composer, OLMo */
    {DEVICE "[/_. ]+tps" IS NUMBER, RATE_OF_GPU}, /* OLMo-core */
    {NUMBER " ?" TOKENS PER SECOND "([/ ]+(per )?" DEVICE ")", RATE_OF_GPU},
    {NUMBER " ?" TOKENS PER DEVICE PER SECOND, RATE_OF_GPU},
    {"(^|[^a-z_])t[pg]s" IS NUMBER, RATE_OF_GPU}, /* torchtitan */
    {TOKENS "([/ ]|_per_| per )" SECOND IS NUMBER, RATE}, /* Lightning, HF Trainer, nanochat, nanotron */
    {NUMBER " ?" TOKENS PER "s", RATE},
    {"(^|[^a-z])wps" IS NUMBER, RATE}, /* fairseq */
    {"elapsed[ _]time[ _]per[ _]" STEP TIME_TAIL, STEP_TIME}, /* Megatron-LM, nanotron */
    {STEP "[ _/-]?(time|timing|duration|latency|avg)([_ /-](avg|mean|average))?" TIME_TAIL, STEP_TIME}, /* NeMo, DeepSpeed */
    {"time[ _/](per[ _])?" STEP TIME_TAIL, STEP_TIME},
    {"(seconds?|secs?)[ _/](per[ _])?" STEP TIME_TAIL, STEP_TIME},
    {"(ms|msec|milliseconds?)[ _/](per[_ ])?" STEP IS TIME, MS_PER_STEP},
    {"(^|[^a-z_])dt" TIME_TAIL, STEP_TIME},
    {"iter(ation)? +[0-9]+.*, time" TIME_TAIL, STEP_TIME}, /* nanoGPT */
    {"step: *[0-9]+,? +seconds" TIME_TAIL, STEP_TIME}, /* MaxText */
    {"eta: .* time" TIME_TAIL, STEP_TIME}, /* torchvision, detectron2 */
    {"epoch: *\\[[0-9]+\\].*[^a-z_]time" TIME_TAIL, STEP_TIME}, /* PyTorch's ImageNet example */
    {"(^|[^a-z])ups" IS NUMBER, STEPS_PER_S}, /* fairseq */
    {"(steps?|it|iters?|iterations?|batches|updates)" PER SECOND IS NUMBER, STEPS_PER_S}, /* HF Trainer, at its end */
    {TIME " ?" UNIT "/" STEP END, STEP_BEHIND}, /* Keras */
    {NUMBER " ?(steps?|it|iters?|iterations?|batches)/s(ec)?" END, STEPS_PER_S},
};
#define PATTERNS COUNT(patterns)

/* A progress bar: how many of how many, and its speed. */
static const char bar_text[] =
    "([0-9]+)/([0-9]+) +(\\[[^]]*[, ]|[0-9]+:[0-9:]+[^a-z]* ) *([0-9][0-9.]*) ?(s/it|it/s)";
enum { BAR_COUNT = 1, BAR_TOTAL = 2, BAR_NUMBER = 4, BAR_UNIT = 5 };
/* Its label, if it is none of training steps. */
static const char bar_other[] = "eval|valid|test|load|map|token|generat|predict|sanity|shard|fetch|filter|quantiz|inference";
static const char step_text[] = "(^|[^a-z_/])(global[_ ]?|train[_ ]?|completed )?(step|iteration|iter|batch|update)s?"
                                "[\"']?[ :=[#(]+[\"']?([0-9][0-9,]*)([^0-9.]|\\.[^0-9]|\\.?$)";

/* ends with a NULL text */
static const struct watch_trouble watch_troubles[] = {
    {"time-out", "watchdog caught collective|collective operation timeout|timed out|timeouterror|"
                 "heartbeat monitor.*(timeout|stuck)|before timing out"},
    {"NCCL error", "NCCL (WARN|error)|nccl[a-z]*Error|DistBackendError|DistStoreError|"
                   "async error on communicator"},
    {"connection lost", "connection (reset|refused|closed|timed)|broken pipe|no route to host|"
                        "network is unreachable|socket.*(fail|closed)"},
    {"CUDA error", "CUDA error|cuda out of memory|outofmemoryerror|cublas_status_[a-z_]*(fail|err)|"
                   "Xid.*[0-9]"},
    {"rank died", "signal: (segmentation|killed|aborted)|exitcode *: *-?[1-9]|"
                  "ChildFailedError|CalledProcessError|core dumped"},
    {"loss is not a number", "loss['\"]?[ :=]+(nan|-?inf)"},
    {NULL, NULL}};
/* clang-format on */

#define GROUPS 24
#define NESTED 8        /* lengths of bars that are known to be of evaluation */
#define LATE 3          /* steps by which a rank may print later than others */
#define SHORT_BAR 20    /* a finished bar of fewer steps than this may have been of loading */
#define RATE_MAX 1e15   /* tokens/s; more is no rate */
#define STEP_MIN_S 1e-9 /* seconds */
#define STEP_MAX_S 1e7

struct watch_lines {
    regex_t regex[PATTERNS], bar, other, step, own, trouble[WATCH_TROUBLES_MAX];
    size_t n_troubles;
    bool is_own, totals;
    enum meaning own_meaning;
    double own_unit; /* seconds; 0: as the line says */
    /* the bar of the steps */
    long long bar_total, bar_count, nested[NESTED];
    size_t n_nested;
    bool evaluating, over;
    /* the last step */
    long long last;
    bool has_rate, has_time;
};

static int compile_own(struct watch_lines *w, const char *pattern)
{
    static const struct {
        const char *word;
        enum meaning meaning;
        double unit;
    } kinds[] = {{"step:", STEP_TIME, 0}, {"ms:", STEP_TIME, 1e-3}, {"gpu:", RATE_OF_GPU, 0}};
    char why[200];
    w->own_meaning = RATE;
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (!strncmp(pattern, kinds[i].word, strlen(kinds[i].word))) {
            pattern += strlen(kinds[i].word);
            w->own_meaning = kinds[i].meaning;
            w->own_unit = kinds[i].unit;
            break;
        }
    int error = regcomp(&w->own, pattern, REG_EXTENDED | REG_ICASE);
    if (error) {
        regerror(error, &w->own, why, sizeof why);
        return fail(GS_USAGE, "watch: --pattern '%s': %s", pattern, why);
    }
    w->is_own = true;
    if (!w->own.re_nsub)
        return fail(GS_USAGE, "watch: --pattern '%s': add a (group) around the number", pattern);
    return GS_OK;
}

static void compile(regex_t *regex, const char *text)
{
    int error = regcomp(regex, text, REG_EXTENDED | REG_ICASE);
    if (error)
        abort(); /* a pattern of this file; the unit test compiles all */
}

struct watch_lines *watch_lines_new(const char *pattern)
{
    struct watch_lines *w = xcalloc(1, sizeof *w);
    for (size_t i = 0; i < PATTERNS; i++)
        compile(&w->regex[i], patterns[i].text);
    compile(&w->bar, bar_text);
    compile(&w->other, bar_other);
    compile(&w->step, step_text);
    for (const struct watch_trouble *t = watch_troubles; t->text; t++)
        compile(&w->trouble[w->n_troubles++], t->text);
    w->last = -1;
    if (pattern && compile_own(w, pattern)) {
        watch_lines_free(w);
        return NULL;
    }
    return w;
}

void watch_lines_free(struct watch_lines *w)
{
    for (size_t i = 0; i < PATTERNS; i++)
        regfree(&w->regex[i]);
    for (size_t i = 0; i < w->n_troubles; i++)
        regfree(&w->trouble[i]);
    regfree(&w->bar);
    regfree(&w->other);
    regfree(&w->step);
    if (w->is_own)
        regfree(&w->own);
    free(w);
}

/* ---- numbers ---- */

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

/* The unit beside a number of the user's pattern: behind it, or before it as in "time_ms=". */
static double unit_beside(const char *start, const char *number, const char *end)
{
    const char *s = end + strspn(end, " ");
    size_t n = 0;
    while (isalpha((unsigned char)s[n]))
        n++;
    double unit = unit_of(s, n);
    if (unit > 0)
        return unit;
    for (s = number; s > start && strchr(" \t:=|\"'()[]", s[-1]);)
        s--;
    for (n = 0; s > start && isalpha((unsigned char)s[-1]); n++)
        s--;
    return unit_of(s, n);
}

/* The first group that begins with a digit. */
static const regmatch_t *digits(const char *line, const regmatch_t *m)
{
    for (size_t g = 1; g < GROUPS; g++)
        if (m[g].rm_so >= 0 && isdigit((unsigned char)line[m[g].rm_so]))
            return &m[g];
    return NULL;
}

static double step_seconds(enum meaning meaning, double x, double unit)
{
    switch (meaning) {
    case MS_PER_STEP:
        return x * 1e-3;
    case STEPS_PER_S:
        return x > 0 ? 1 / x : 0;
    default:
        return x * (unit > 0 ? unit : 1);
    }
}

/* ---- values ---- */

static void read_own(const struct watch_lines *w, const char *line, struct watch_values *v)
{
    regmatch_t m[GROUPS];
    const regmatch_t *g = regexec(&w->own, line, GROUPS, m, 0) ? NULL : digits(line, m);
    if (!g)
        return;
    double x = value_in(line, g), unit = w->own_unit;
    if (w->own_meaning == STEP_TIME && unit <= 0)
        unit = unit_beside(line + m[0].rm_so, line + g->rm_so, line + g->rm_eo);
    if (w->own_meaning == STEP_TIME)
        v->step_s = step_seconds(STEP_TIME, x, unit);
    else
        v->rate = x;
    v->of_gpu = w->own_meaning == RATE_OF_GPU;
}

/* Rates of one GPU first; then their places are blank, so that the rate of all is found beside
 * them. */
static void read_known(const struct watch_lines *w, const char *line, bool times,
                       struct watch_values *v)
{
    AUTO_FREE char *rest = xstrdup(line);
    regmatch_t m[GROUPS];
    for (size_t i = 0; i < PATTERNS; i++) {
        const enum meaning kind = patterns[i].meaning;
        const bool of_time = kind != RATE && kind != RATE_OF_GPU;
        if ((of_time && (!times || v->step_s > 0)) || regexec(&w->regex[i], rest, GROUPS, m, 0))
            continue;
        const regmatch_t *tail = m + w->regex[i].re_nsub - TAIL_GROUPS;
        const regmatch_t *g = kind == STEP_TIME ? &tail[TAIL_NUMBER] : digits(rest, m);
        double x = g ? value_in(rest, g) : 0;
        if (kind == STEP_TIME) {
            double unit = unit_in(rest, &tail[TAIL_UNIT]);
            v->step_s = step_seconds(kind, x, unit > 0 ? unit : unit_in(rest, &tail[TAIL_MARK]));
        } else if (of_time) {
            v->step_s = step_seconds(kind, x, kind == STEP_BEHIND ? unit_in(rest, &m[3]) : 0);
        } else if (kind == RATE && (v->rate <= 0 || v->of_gpu)) {
            v->rate = x;
            v->of_gpu = false;
        } else if (kind == RATE_OF_GPU) {
            v->rate = v->rate > 0 ? v->rate : x;
            v->of_gpu = true;
            memset(rest + m[0].rm_so, ' ', (size_t)(m[0].rm_eo - m[0].rm_so));
        }
    }
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
    return !regexec(&w->other, label, 0, NULL, 0);
}

static bool is_nested(const struct watch_lines *w, long long total)
{
    for (size_t i = 0; i < w->n_nested; i++)
        if (w->nested[i] == total)
            return true;
    return false;
}

static bool nest(struct watch_lines *w, long long total)
{
    if (w->n_nested < NESTED && !is_nested(w, total))
        w->nested[w->n_nested++] = total;
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
        (w->bar_total >= SHORT_BAR && total < w->bar_total))
        return nest(w, total);
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
    if (regexec(&w->bar, line, GROUPS, m, 0))
        return false;
    long long count = strtoll(line + m[BAR_COUNT].rm_so, NULL, 10);
    long long total = strtoll(line + m[BAR_TOTAL].rm_so, NULL, 10);
    bool of_steps = !w->over && total > 0 && !labelled_other(w, line, (size_t)m[0].rm_so) &&
                    is_of_steps(w, count, total, &v->restart);
    if (!of_steps)
        return true;
    double x = value_in(line, &m[BAR_NUMBER]);
    bool per_s = line[m[BAR_UNIT].rm_so] == 'i' || line[m[BAR_UNIT].rm_so] == 'I';
    v->step_s = step_seconds(per_s ? STEPS_PER_S : STEP_TIME, x, 0);
    v->step = count;
    return true;
}

/* ---- a line ---- */

static long long step_of(const struct watch_lines *w, const char *line)
{
    regmatch_t m[GROUPS];
    for (const char *s = line; !regexec(&w->step, s, GROUPS, m, s > line ? REG_NOTBOL : 0);
         s += m[0].rm_eo) {
        const char *at = s + m[0].rm_so;
        const regmatch_t *g = digits(s, m);
        if (g && (at - line < 3 || strncasecmp(at - 3, "per", 3)))
            return (long long)number(s + g->rm_so, (size_t)(g->rm_eo - g->rm_so));
    }
    return -1;
}

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
    if (bar && v.step < 0) /* of loading or evaluation */
        return v;
    if (w->is_own) {
        v.step_s = 0;
        read_own(w, line, &v);
    } else if (!summary || w->last < 0) {
        read_known(w, line, !bar, &v);
    }
    w->over = w->over || summary;
    v.step = bar ? v.step : step_of(w, line);
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

/* The last `window` values. */
struct rolling {
    double v[WATCH_WINDOW_MAX];
    size_t n, next;
};

#define SHOWN 3            /* lines of a kind of trouble that are printed; the rest is counted */
#define SLOW_FIRST 1.5     /* first steps slower than later ones by so much are named */
#define STALL_LEAST_S 60.0 /* silence shorter than this is none */
#define STALL_STEPS 10.0
#define EXCERPT 160

struct watch {
    struct watch_options o;
    struct watch_lines *says;
    size_t seen[WATCH_TROUBLES_MAX]; /* lines of each kind of trouble */
    struct rolling rate, step_s;     /* after the warm-up */
    struct rolling first_s;          /* during it */
    size_t lines, measured, flagged;
    long long step; /* number of the last one; -1: none said */
    bool of_gpu;    /* rate is of one GPU */
    bool below, stalled, first_said, empty_said;
};

/* ---- numbers ---- */

static double median(const struct rolling *r)
{
    return r->n ? stats_median(r->v, r->n) : 0;
}

static void roll(struct rolling *r, double x, size_t window)
{
    r->v[r->next] = x;
    r->next = (r->next + 1) % window;
    r->n += r->n < window;
}

struct watch *watch_new(const struct watch_options *o)
{
    struct watch_lines *says = watch_lines_new(o->pattern);
    if (!says)
        return NULL;
    struct watch *w = xcalloc(1, sizeof *w);
    w->o = *o;
    w->says = says;
    w->step = -1;
    return w;
}

void watch_free(struct watch *w)
{
    if (!w)
        return;
    watch_lines_free(w->says);
    free(w);
}

/* ---- what was measured ---- */

__attribute__((format(printf, 2, 3))) static void flag(struct watch *w, const char *fmt, ...)
{
    va_list args;
    w->flagged++;
    printf("line %zu: ", w->lines);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
}

/* Tokens/s without an exponent. */
struct rate_text {
    char s[32];
};

static struct rate_text rate_text(double rate)
{
    struct rate_text t;
    snprintf(t.s, sizeof t.s, rate < 1000 ? "%.4g" : "%.0f", rate);
    return t;
}

static const char *unit(const struct watch *w)
{
    return w->of_gpu ? "tokens/s per GPU" : "tokens/s";
}

static void print_rolling(const struct watch *w)
{
    double rate = median(&w->rate), step = median(&w->step_s);
    if (w->step >= 0)
        printf("step %lld:", w->step);
    else
        printf("measurement %zu:", w->measured);
    if (rate > 0)
        printf(" %s %s", rate_text(rate).s, unit(w));
    if (rate > 0 && w->o.expected_rate > 0)
        printf(" (%.0f%% of the %s expected)", 100 * rate / w->o.expected_rate,
               rate_text(w->o.expected_rate).s);
    if (step > 0)
        printf("%s %.5g s per step", rate > 0 ? "," : "", step);
    if (step > 0 && w->o.expected_step_s > 0)
        printf(" (%.4g expected)", w->o.expected_step_s);
    putchar('\n');
}

/* Rates that a verdict needs. */
static size_t enough(const struct watch *w)
{
    return w->o.window < 5 ? w->o.window : 5;
}

static void judge_rate(struct watch *w)
{
    double rate = median(&w->rate);
    bool below = rate < w->o.threshold;
    if (w->o.threshold <= 0 || w->rate.n < enough(w) || below == w->below)
        return;
    w->below = below;
    if (below)
        flag(w, "rate under the threshold: %s %s, %s wanted", rate_text(rate).s, unit(w),
             rate_text(w->o.threshold).s);
    else
        printf("line %zu: above the threshold again: %s %s\n", w->lines, rate_text(rate).s,
               unit(w));
}

/* Slow first steps are usual (connections, compilation, caches), so they are named, not flagged. */
static void judge_first(struct watch *w)
{
    double first = median(&w->first_s), later = median(&w->step_s);
    if (w->first_said || w->step_s.n < 5 || w->first_s.n < 1)
        return;
    w->first_said = true;
    for (size_t i = 0; i < w->first_s.n; i++)
        first = fmax(first, w->first_s.v[i]);
    if (first > SLOW_FIRST * later)
        printf("slow first steps: up to %.4g s; %.4g s per step since\n", first, later);
}

/* again: the values are of a step that was counted. */
static void take(struct watch *w, double rate, double step, bool again)
{
    w->measured += !again;
    w->stalled = false;
    bool warm = w->measured > w->o.warmup;
    if (step > 0)
        roll(warm ? &w->step_s : &w->first_s, step, w->o.window);
    if (!warm)
        return;
    if (rate > 0)
        roll(&w->rate, rate, w->o.window);
    judge_first(w);
    judge_rate(w);
    if (!again && (w->measured - w->o.warmup) % w->o.window == 0)
        print_rolling(w);
}

/* ---- lines ---- */

static void measure(struct watch *w, const char *line)
{
    struct watch_values v = watch_lines_read(w->says, line);
    if (v.restart) { /* it was loading until here */
        w->rate.n = w->step_s.n = w->first_s.n = 0;
        w->rate.next = w->step_s.next = w->first_s.next = w->measured = 0;
    }
    if (v.first_rate) /* those before were of one GPU */
        w->rate.n = w->rate.next = 0;
    if (v.rate <= 0 && v.step_s <= 0)
        return;
    if (v.rate > 0)
        w->of_gpu = v.of_gpu && w->o.gpus <= 0;
    if (v.of_gpu && w->o.gpus > 0)
        v.rate *= w->o.gpus;
    w->step = v.step >= 0 ? v.step : w->step;
    if (v.rate <= 0 && w->o.tokens > 0 && !v.again)
        v.rate = w->o.tokens / v.step_s;
    if (v.step_s <= 0 && w->o.tokens > 0 && !v.again)
        v.step_s = w->o.tokens / v.rate;
    take(w, v.rate, v.step_s, v.again);
}

static void look_for_trouble(struct watch *w, const char *line)
{
    size_t i = 0;
    while (i < w->says->n_troubles && regexec(&w->says->trouble[i], line, 0, NULL, 0))
        i++;
    if (i == w->says->n_troubles)
        return;
    if (w->seen[i]++ < SHOWN)
        flag(w, "%s: %.*s", watch_troubles[i].what, EXCERPT, line);
    else
        w->flagged++;
}

void watch_line(struct watch *w, char *line, size_t n)
{
    w->lines++;
    watch_clean(line, n);
    look_for_trouble(w, line);
    measure(w, line);
}

void watch_idle(struct watch *w, double seconds)
{
    double limit = fmax(STALL_LEAST_S, STALL_STEPS * median(&w->step_s));
    if (!w->measured && !w->empty_said && seconds >= STALL_LEAST_S) {
        w->empty_said = true;
        printf(
            "no rate and no step time in %.0f s (%zu line%s): is it the log of a training? If so, "
            "describe its format with --pattern\n",
            seconds, w->lines, w->lines == 1 ? "" : "s");
    }
    if (w->stalled || !w->measured || seconds < limit)
        return;
    w->stalled = true;
    flag(w, "no step for %.0f s", seconds);
}

size_t watch_measured(const struct watch *w)
{
    return w->measured;
}

/* A log whose rate was not judged must not look like one whose rate is good. */
static void say_unjudged(const struct watch *w)
{
    if (w->o.threshold <= 0)
        printf("no rate was judged: give --threshold or --config\n");
    else if (!w->rate.n)
        printf("no rate was judged: the log has step times only; give --config, whose [model] has "
               "the tokens of a step\n");
    else if (w->rate.n < enough(w))
        printf("no rate was judged: %zu measurement%s after the warm-up, %zu or more are needed\n",
               w->rate.n, w->rate.n == 1 ? "" : "s", enough(w));
}

size_t watch_end(struct watch *w)
{
    printf("%zu line%s, %zu measurement%s\n", w->lines, w->lines == 1 ? "" : "s", w->measured,
           w->measured == 1 ? "" : "s");
    if (w->rate.n || w->step_s.n)
        print_rolling(w);
    else if (w->measured)
        printf("all measurements are warm-up: no rate yet\n");
    if (w->rate.n || w->step_s.n)
        say_unjudged(w);
    for (size_t i = 0; watch_troubles[i].text; i++)
        if (w->seen[i])
            printf("%s: %zu %s\n", watch_troubles[i].what, w->seen[i],
                   w->seen[i] == 1 ? "line" : "lines");
    return w->flagged;
}
