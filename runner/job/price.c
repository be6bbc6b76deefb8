/* SPDX-License-Identifier: Apache-2.0 */
#include "job/price.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/files.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/units.h"
#include "job/job_output.h"
#include "job/job_process.h"
#include "job/job_recording.h"
#include "job/trial_result.h"
#include "price/trial_config.h"
#include "record/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- from the visits of a launch ---- */

#define NOISY 0.02      /* half the width of an interval */
#define CLOSE 0.005     /* so is an interval narrow enough: in the step, */
#define CLOSE_PART 0.03 /* or in the price */

/* A logarithm of the step against auto. 0 - x, because -x would print a price of nothing as -0.0%. */
static struct price_share shorter(const struct effect *e)
{
    return (struct price_share){0 - expm1(e->value), 0 - expm1(e->hi), 0 - expm1(e->lo)};
}

static struct price_share of_arm(const struct trial_comm *c, const char *arm)
{
    struct effect e = trial_effect(c, arm, 0, 0);
    return shorter(&e);
}

/* A rank's step in a visit. */
static double rank_s(const struct trial_visit *v, int64_t rank)
{
    return (double)v->rank_ns[rank] / (double)(v->steps - 1) / 1e9;
}

/* Between two arms of a block, as shares of auto's step there, of one rank. */
static size_t differences(struct nested *x, const struct trial_comm *c, const char *more,
                          const char *less, int64_t rank)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct trial_visit *a = &c->visits[i], *b;
        const struct trial_visit *base = trial_visit_of(c, a->block, "auto", 0);
        if (strcmp(a->arm, more) || a->copy || !base ||
            !(b = trial_visit_of(c, a->block, less, 0)) || !a->rank_ns || !b->rank_ns)
            continue;
        double d = rank_s(a, rank) - rank_s(b, rank);
        x[n] = (struct nested){.launch = (int)n, .value = d / trial_visit_step_s(base)};
        n++;
    }
    return n;
}

static struct price_share between(const struct trial_comm *c, const char *more, const char *less,
                                  int64_t rank)
{
    AUTO_FREE struct nested *x = xcalloc(c->n + 1, sizeof *x);
    struct effect e = trial_effect_median(x, differences(x, c, more, less, rank));
    return (struct price_share){e.value, e.lo, e.hi};
}

/* Without communication a rank that is early does not wait, so the one that waits longest gains most. */
static int64_t waits_longest(const struct trial_comm *c)
{
    int64_t longest = 0;
    double most = -INFINITY;
    for (int64_t rank = 0; rank < c->ranks; rank++) {
        double median = between(c, "one", "none", rank).value;
        if (median > most) {
            most = median;
            longest = rank;
        }
    }
    return longest;
}

static double step_of(const struct trial_comm *c)
{
    AUTO_FREE double *v = xcalloc(c->n + 1, sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->visits[i].arm, "auto"))
            v[n++] = trial_visit_step_s(&c->visits[i]);
    return stats_median(v, n);
}

/* A collective that none left out. */
static bool left_out(const struct trial_comm *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->visits[i].arm, "none") && json_object_get(c->visits[i].ran, "none"))
            return true;
    return false;
}

bool price_from(struct price_answer *a, const struct trial_comm *c)
{
    *a = (struct price_answer){.step_s = step_of(c)};
    if (!trial_has_arm(c, "none"))
        return false;
    struct effect e = trial_effect(c, "none", 0, 0);
    a->blocks = e.launches;
    a->none = shorter(&e);
    a->half = of_arm(c, "half");
    a->waiting = c->visits[0].rank_ns ? between(c, "one", "none", waits_longest(c))
                                      : (struct price_share){NAN, NAN, NAN};
    a->noise = (a->none.hi - a->none.lo) / 2;
    a->known = a->blocks >= TRIAL_BLOCKS_MIN && left_out(c);
    if (!left_out(c))
        snprintf(a->why, sizeof a->why,
                 "no collective of the step has 64 KiB or more; smaller ones are never left "
                 "out");
    else if (!a->known)
        snprintf(a->why, sizeof a->why,
                 "the job ended, or the time was over, after %d of the %d blocks that a price "
                 "needs",
                 a->blocks, TRIAL_BLOCKS_MIN);
    return true;
}

bool price_enough(const struct price_answer *a)
{
    double half = (a->half.hi - a->half.lo) / 2;
    double narrow = fmax(CLOSE, CLOSE_PART * fabs(a->none.value));
    return a->known && a->noise <= narrow && half <= 2 * narrow;
}

char *price_sentence(const struct price_answer *a)
{
    struct text t = {0};
    text_addf(&t, "Communication costs %.1f%% [%.1f, %.1f] of the step (%s of %s).",
              100 * a->none.value, 100 * a->none.lo, 100 * a->none.hi,
              HUMAN_TIME(fmax(0, a->none.value) * a->step_s), HUMAN_TIME(a->step_s));
    if (!isnan(a->half.value))
        text_addf(&t, " With half the bytes the step is %.1f%% %s.", 100 * fabs(a->half.value),
                  a->half.value < 0 ? "longer" : "shorter");
    if (!isnan(a->waiting.value))
        text_addf(&t, " Waiting and latency, of the rank that waits longest: %.1f%%.",
                  100 * a->waiting.value);
    return t.s;
}

char *price_noise(const struct price_answer *a)
{
    return a->known && a->noise > NOISY
               ? xstrfmt(
                     "the steps of this job vary, so a difference of less than %.1f%% cannot be "
                     "seen; a likely reason is the host: see whether a smaller batch makes the "
                     "step shorter",
                     100 * a->noise)
               : NULL;
}

/* ---- from a recording ---- */

/* Launches with communication and without, for a job whose collectives are in a CUDA graph. */
struct pairs {
    double (*log_s)[2]; /* of each launch: with, without; 0: none */
    size_t n;
};

static void take_pair(void *ctx, int launch, const char *label, int copy, double step_s)
{
    struct pairs *p = ctx;
    (void)copy;
    while (launch >= 1 && p->n < (size_t)launch) {
        double(*pair)[2] = &APPEND(p->log_s, p->n);
        (*pair)[0] = (*pair)[1] = (double)NAN;
    }
    if (launch >= 1 && step_s > 0)
        p->log_s[launch - 1][!strcmp(label, "none")] = log(step_s);
}

/* The mean of the log-ratios, and Student's t. */
static int price_of_pairs(struct price_answer *a, const char *dir)
{
    struct pairs p = {0};
    int code = job_recording_read(dir, take_pair, &p), n = 0;
    double sum = 0, squares = 0, with = 0;
    for (size_t i = 0; i < p.n; i++) {
        double x = p.log_s[i][1] - p.log_s[i][0];
        if (isnan(x))
            continue;
        n++;
        sum += x;
        squares += x * x;
        with += p.log_s[i][0];
    }
    free(p.log_s);
    snprintf(a->why, sizeof a->why,
             "%d of the launches with and without communication are whole; "
             "2 or more are needed",
             n);
    if (code || n < 2)
        return code;
    double mean = sum / n, sd = sqrt(fmax(0, squares - n * mean * mean) / (n - 1));
    double half = student_quantile(0.025, n - 1) * sd / sqrt(n);
    a->none = (struct price_share){-expm1(mean), -expm1(mean + half), -expm1(mean - half)};
    a->half = a->waiting = (struct price_share){NAN, NAN, NAN};
    a->noise = (a->none.hi - a->none.lo) / 2;
    a->step_s = exp(with / n);
    a->launches = n;
    a->known = true;
    return GS_OK;
}

int price_read(struct price_answer *a, const char *dir)
{
    struct trial_comm c;
    *a = (struct price_answer){0};
    if (strstr(path_name(dir), "-" JOB_PRICE "-"))
        return price_of_pairs(a, dir);
    int code = job_recording_visits(&c, dir);
    if (!code && c.n)
        price_from(a, &c);
    trial_comm_free(&c);
    return code;
}

/* ---- other recordings of the job ---- */

struct prices {
    size_t n;
    double least, most;
};

/* Adds the prices of this job below `dir`. A damaged recording is left out, since the answer does not need it. */
static void add_prices(struct prices *p, const char *dir, const char *pattern, const char *job)
{
    AUTO_WORDS struct words runs = {0};
    files_list(dir, pattern, &runs);
    for (size_t i = 0; i < runs.n; i++) {
        struct price_answer a;
        AUTO_FREE char *run = xstrfmt("%s/%s", dir, runs.v[i]), *of = job_recording_job(run);
        if (!of || strcmp(of, job) != 0 || price_read(&a, run) || !a.known)
            continue;
        p->least = p->n ? fmin(p->least, a.none.value) : a.none.value;
        p->most = p->n ? fmax(p->most, a.none.value) : a.none.value;
        p->n++;
    }
}

char *price_caveat(const struct price_answer *a, const char *run)
{
    struct prices p = {0};
    char ignored[400];
    err_capture(ignored, sizeof ignored);
    AUTO_FREE char *job = run ? job_recording_job(run) : NULL;
    if (job) { /* runs of a platform are in PLATFORM/WORKLOAD/RUN */
        AUTO_FREE char *trials = xstrfmt("%s/../../" JOB_TRIAL, run);
        AUTO_FREE char *pairs = xstrfmt("%s/../../" JOB_TUNE, run);
        add_prices(&p, trials, "*", job);
        add_prices(&p, pairs, "*-" JOB_PRICE "-*", job);
    }
    err_capture(NULL, 0);
    if (p.n > 1)
        return xstrfmt("%sThe %zu recorded prices of this job: %.1f%% to %.1f%%.",
                       a->launches ? "" : "The interval is that of one launch. ", p.n,
                       100 * p.least, 100 * p.most);
    return a->launches
               ? NULL
               : xstrdup("The interval is that of one launch; another launch can differ by more.");
}

/* ---- a launch ---- */

#define ARMS 5      /* visits of a block: auto twice, none, one, half */
#define BLOCKS 16   /* that the time should be enough for */
#define VISIT_S 2.0 /* at most */

void price_config(struct trial_config *c, double seconds, int64_t calls, uint64_t seed)
{
    *c = (struct trial_config){
        .arms = {{.label = "auto"}, {.label = "none"}, {.label = "one"}, {.label = "half"}},
        .n_arms = 4,
        .seed = seed,
        .visit_ms = (uint64_t)ceil(1e3 * fmin(VISIT_S, seconds / (ARMS * BLOCKS))),
        .warmup = 10,
        .seconds = (uint64_t)ceil(seconds),
        .calls = (uint64_t)calls};
}

#define PRICE_LOOK_S 2.0
#define BEGIN 5 /* deadlines, until a step is found */

struct pricing {
    struct tune_launch launch; /* the first member: the context of hooks */
    struct price_launch *p;
    double went_on_at, silent_s;     /* when it went on; how long it may stand still */
    off_t done;                      /* bytes that the ranks wrote; visits, once they have begun */
    int64_t dropped, dropped_before; /* visits: now, and when it went on */
    bool begun, hung;
};

static off_t written(const char *dir)
{
    AUTO_WORDS struct words names = {0};
    off_t all = 0;
    files_list(dir, "*.jsonl", &names);
    for (size_t i = 0; i < names.n; i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s", dir, names.v[i]);
        struct stat s;
        all += stat(path, &s) ? 0 : s.st_size;
    }
    return all;
}

/* No visit ends any more. Before the first one the job may load its data, and find its step. */
static bool is_silent(struct pricing *q, const struct trial_comm *c, double now)
{
    off_t done = q->begun ? (off_t)(c ? c->n : 0) : written(q->launch.ranks.path);
    if (done != q->done) {
        q->silent_s = fmax(q->silent_s, 4 * (now - q->went_on_at));
        q->done = done;
        q->dropped_before = q->dropped;
        q->went_on_at = now;
    }
    double limit = q->p->deadline_s, silent = now - q->went_on_at;
    return silent > (q->begun ? fmax(limit, fmin(q->silent_s, 10 * limit)) : BEGIN * limit);
}

static bool is_over(void *ctx)
{
    struct pricing *q = ctx;
    AUTO(trial_ranks_free) struct trial_ranks r = {0};
    double now = clock_now_s();
    bool captured = false;
    if (now < q->launch.looked_at + PRICE_LOOK_S)
        return false;
    q->launch.looked_at = now;
    const struct trial_comm *c = tune_launch_ranks(&r, &q->launch) ? NULL : trial_ranks_lead(&r);
    for (size_t i = 0; i < r.n; i++) {
        q->begun = q->begun || r.v[i].begun;
        captured = captured || r.v[i].captured;
        q->dropped = r.v[i].dropped > q->dropped ? r.v[i].dropped : q->dropped;
    }
    if (c)
        price_from(&q->p->answer, c);
    if (c ? c->over >= c->ranks || price_enough(&q->p->answer) : captured)
        return true;
    return q->hung = is_silent(q, c, now);
}

static char *why_none(const struct pricing *q, const struct job_ended *e)
{
    const struct price_launch *p = q->p;
    double silent = clock_now_s() - q->went_on_at;
    char why[64];
    if (q->hung && q->begun && q->dropped > q->dropped_before + 1)
        return xstrfmt("the job completed no visit for %.0f s and was killed: other collectives "
                       "interrupt every few of its steps; let it log or evaluate less often",
                       silent);
    if (q->hung && q->begun)
        return xstrfmt("the job completed no visit for %.0f s and was killed: what it does next "
                       "may depend on values that were not communicated",
                       silent);
    if (q->hung)
        return xstrfmt("no step was found for %.0f s, and the job was killed; if it needs longer "
                       "to begin, use a longer --deadline",
                       silent);
    if (e->hung)
        return xstrfmt("no price was known after %s, and the job was killed; use more --minutes",
                       HUMAN_TIME(p->most_s));
    AUTO_FREE char *reason = job_output_reason(&q->launch.output);
    if (p->status && job_ended_kind(e, why, sizeof why))
        return xstrfmt("the command failed: %s%s", why, reason);
    return trial_result_why(&p->ranks, (long)p->config->calls);
}

static int launch(const struct tune_job *j, struct price_launch *p)
{
    const struct tune_setting as_is = {0};
    const char *theirs = getenv("LD_PRELOAD");
    p->watch = job_watch_new();
    struct pricing q = {.launch = {.output = {.log = j->log, .job = p->watch}, .job = j},
                        .p = p,
                        .went_on_at = clock_now_s()};
    struct job_ended ended;
    say("price: this launch is thrown away: its results are worthless, and it ends once the price "
        "is known");
    if (theirs && *theirs)
        say("price: LD_PRELOAD is set, and stays: %s", theirs);
    int code = tune_launch_run(&q.launch, &as_is, p->config, p->most_s > 0 ? p->most_s : 1e9,
                               is_over, &ended);
    code = code ? code : trial_ranks_read(&p->ranks, q.launch.ranks.path);
    p->lead = code || q.hung ? NULL : trial_ranks_lead(&p->ranks);
    p->answer = (struct price_answer){0};
    if (!code)
        p->status = ended.enough || ended.stopped ? 0 : ended.status;
    if (p->lead) {
        price_from(&p->answer, p->lead);
    } else if (!code) {
        AUTO_FREE char *why = why_none(&q, &ended);
        snprintf(p->answer.why, sizeof p->answer.why, "%s", why);
    }
    tune_launch_end(&q.launch);
    return code;
}

void price_launch_free(struct price_launch *p)
{
    trial_ranks_free(&p->ranks);
    if (p->watch)
        job_watch_free(p->watch);
}

/* ---- a price ---- */

int price_take(const struct tune_job *j, struct price_launch *p, const char *platform,
               char *const *command, char **run)
{
    int code = launch(j, p);
    const struct trial_comm *c = p->lead;
    if (!c)
        return code;
    code = record_make_run(j->out, platform, JOB_TRIAL, "", run);
    const struct job_source s = {
        platform, *run, command, c->ranks, c->nodes, (long long)p->config->seed, 1};
    bool complete = c->over >= c->ranks || price_enough(&p->answer);
    return code ? code : job_recording_trial(c, &s, p->watch, complete);
}

