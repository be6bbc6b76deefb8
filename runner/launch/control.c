/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/control.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/jsontext.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum kind { TEXT, INT, LONG, REAL };

#define BEAT (1u << CONTROL_BEAT)
#define DEAD (1u << CONTROL_DEAD)
#define ERROR (1u << CONTROL_ERROR)
#define DONE (1u << CONTROL_DONE)
#define WARN (1u << CONTROL_WARN)
#define LOST (1u << CONTROL_LOST)

static const char *const event_names[] = {"beat", "dead", "error", "done", "warn", "lost"};

/* Every member except "event", in the order of writing, and the events that have it. */
static const struct member {
    const char *key;
    enum kind kind;
    size_t offset, size;
    unsigned events;
} members[] = {
#define MEMBER(name, kind, events)                                                                 \
    {                                                                                              \
#name, kind, offsetof(struct control, name), sizeof((struct control *)0)->name, events     \
    }
    MEMBER(rank, INT, BEAT | DEAD | ERROR | DONE | WARN | LOST),
    MEMBER(phase, TEXT, BEAT | DEAD),
    MEMBER(cell, TEXT, BEAT | DEAD | WARN),
    MEMBER(group, TEXT, BEAT),
    MEMBER(config, TEXT, BEAT),
    MEMBER(block, INT, BEAT),
    MEMBER(half_width, REAL, BEAT),
    MEMBER(groups_done, INT, BEAT),
    MEMBER(groups, INT, BEAT),
    MEMBER(left_s, REAL, BEAT),
    MEMBER(copy, INT, DEAD),
    MEMBER(kind, TEXT, DEAD),
    MEMBER(host, TEXT, DEAD | LOST),
    MEMBER(pid, LONG, DEAD),
    MEMBER(why, TEXT, DEAD | ERROR | WARN | LOST),
    MEMBER(code, INT, ERROR),
    MEMBER(status, TEXT, DONE),
#undef MEMBER
};

#define N_MEMBERS (COUNT(members))
#define N_EVENTS (COUNT(event_names))

static json_t *to_json(const struct member *m, const struct control *c)
{
    const char *at = (const char *)c + m->offset;
    switch (m->kind) {
    case TEXT:
        return json_text(at);
    case INT:
        return json_integer(*(const int *)at);
    case LONG:
        return json_integer(*(const long *)at);
    case REAL:
        return json_real(*(const double *)at);
    }
    return NULL;
}

static bool from_json(const struct member *m, const json_t *value, struct control *c)
{
    char *at = (char *)c + m->offset;
    switch (m->kind) {
    case TEXT:
        return json_is_string(value) &&
               snprintf(at, m->size, "%s", json_string_value(value)) < (int)m->size;
    case INT:
        *(int *)at = (int)json_integer_value(value);
        return json_is_integer(value);
    case LONG:
        *(long *)at = (long)json_integer_value(value);
        return json_is_integer(value);
    case REAL:
        *(double *)at = json_number_value(value);
        return json_is_number(value);
    }
    return false;
}

size_t control_encode(const struct control *c, char buf[CONTROL_LINE_MAX])
{
    AUTO_JSON json_t *object = json_object();
    json_object_set_new(object, "event", json_string(event_names[c->event]));
    for (size_t i = 0; i < N_MEMBERS; i++)
        if (members[i].events & 1u << c->event)
            json_object_set_new(object, members[i].key, to_json(&members[i], c));
    /* The text fits: the members are short, and json_text at most doubles them. */
    size_t mark = sizeof CONTROL_MARK - 1;
    memcpy(buf, CONTROL_MARK, mark);
    size_t n = mark + json_dumpb(object, buf + mark, CONTROL_LINE_MAX - mark - 1,
                                 JSON_COMPACT | JSON_REAL_PRECISION(9));
    buf[n] = '\n';
    return n + 1;
}

static bool event_of(const json_t *object, enum control_event *event)
{
    for (size_t i = 0; i < N_EVENTS; i++)
        if (!strcmp(json_text_of(object, "event"), event_names[i])) {
            *event = (enum control_event)i;
            return true;
        }
    return false;
}

bool control_decode(const char *line, struct control *out)
{
    *out = (struct control){0};
    const char *mark = strstr(line, CONTROL_MARK);
    if (!mark)
        return false;
    AUTO_JSON json_t *object = json_loads(mark + sizeof CONTROL_MARK - 1, 0, NULL);
    bool ok = event_of(object, &out->event);
    for (size_t i = 0; ok && i < N_MEMBERS; i++)
        if (members[i].events & 1u << out->event)
            ok = from_json(&members[i], json_object_get(object, members[i].key), out);
    return ok;
}

/* ---- progress, on stderr ---- */

#define REDRAW_NS UINT64_C(200000000)
#define BAR 20

void progress_begin(struct progress *p, const struct plan *plan, bool quiet)
{
    const char *term = getenv("TERM");
    bool redraws = isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
    *p = (struct progress){.plan = plan,
                           .style = quiet     ? PROGRESS_NONE
                                    : redraws ? PROGRESS_TERMINAL
                                              : PROGRESS_PLAIN};
}

/* ---- numbers ---- */

/* Groups of the launch that are done: closed or given up. */
static size_t groups_done(const struct progress *p, const struct control *beat)
{
    if (!beat || beat->groups <= 0 || beat->groups_done > beat->groups)
        return p->closed;
    size_t left = (size_t)(beat->groups - beat->groups_done);
    return left < p->plan->n_groups ? p->plan->n_groups - left : 0;
}

static double of_launch(const struct progress *p, const struct control *beat)
{
    size_t done = groups_done(p, beat);
    return p->plan->n_groups ? (double)done / (double)p->plan->n_groups : 1;
}

/* Of those that are measured: a launch may replace another one. */
static long long launches_of(const struct progress *p)
{
    long long planned = p->plan->set.measure.launches;
    return p->launch > planned ? p->launch : planned;
}

static double fraction(const struct progress *p, const struct control *beat)
{
    return (p->launch - 1 + of_launch(p, beat)) / (double)launches_of(p);
}

/* Each remaining launch is assumed to take the mean time of the launches so far, and so is this one
 * until its ranks have an estimate. */
static double time_left(const struct progress *p, const struct control *beat)
{
    double to_come = (double)(launches_of(p) - p->launch);
    int seen = p->launch - p->began_launch;
    double elapsed = (double)(clock_now_ns() - p->began_ns) * 1e-9;
    double launch_s = seen > 0 ? elapsed / seen : elapsed + beat->left_s;
    double here_s =
        seen > 0 && !(beat->left_s > 0) ? launch_s * (1 - of_launch(p, beat)) : beat->left_s;
    return here_s + to_come * launch_s;
}

/* ---- the line ---- */

static void human_left(char *buf, size_t n, double s)
{
    long t = (long)(s + 0.5);
    if (t < 100)
        snprintf(buf, n, "%lds", t);
    else if (t < 100 * 60)
        snprintf(buf, n, "%ldmin", (t + 30) / 60);
    else
        snprintf(buf, n, "%ldh%02ldmin", t / 3600, t % 3600 / 60);
}

static void describe_cell(const struct progress *p, const struct control *beat, char *buf, size_t n)
{
    const struct cell *c = plan_cell_find(p->plan, beat->cell);
    char ci[32] = "";
    if (!c) {
        snprintf(buf, n, "%s", beat->phase);
        return;
    }
    const char *size = c->shape.size_B ? HUMAN_SIZE(c->shape.size_B) : "";
    if (beat->half_width > 0)
        snprintf(ci, sizeof ci, ", CI +-%.2g%%", beat->half_width * 100);
    snprintf(buf, n, "%s%s%s%s%s%s", size, *size ? " " : "", c->config, *c->mode ? " " : "",
             c->mode, ci);
}

void progress_line(const struct progress *p, const struct control *beat, double left_s,
                   size_t columns, char *buf, size_t n)
{
    char bar[BAR + 1], cell[160], left[32];
    double f = fraction(p, beat);
    int filled = (int)(f * BAR);
    for (int i = 0; i < BAR; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR] = '\0';
    describe_cell(p, beat, cell, sizeof cell);
    human_left(left, sizeof left, left_s);
    /* The most useful part comes first: a narrow terminal cuts off the end. */
    snprintf(buf, n, "[%s] %3.0f%% %s left, launch %d/%lld, group %zu/%zu, %s %s", bar, f * 100,
             left, p->launch, launches_of(p), groups_done(p, beat), p->plan->n_groups,
             p->plan->section, cell);
    if (columns > 0 && strlen(buf) >= columns)
        buf[columns - 1] = '\0';
}

static size_t columns_here(void)
{
    struct winsize w;
    const char *columns = getenv("COLUMNS");
    long wanted = columns ? strtol(columns, NULL, 10) : 0;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col)
        return w.ws_col;
    return wanted > 0 ? (size_t)wanted : 80;
}

static void draw(struct progress *p, const struct control *beat)
{
    char line[512];
    uint64_t now = clock_now_ns();
    if (p->drawn && now - p->drawn_ns < REDRAW_NS)
        return;
    p->drawn_ns = now;
    p->drawn = true;
    progress_line(p, beat, time_left(p, beat), columns_here(), line, sizeof line);
    fprintf(stderr, "\r\x1b[K%s", line);
    fflush(stderr);
}

static void say_tenth(struct progress *p, const struct control *beat)
{
    char left[32];
    int tenths = (int)(fraction(p, beat) * 10);
    if (tenths <= p->tenths)
        return;
    p->tenths = tenths;
    human_left(left, sizeof left, time_left(p, beat));
    say("%s: %d%%, about %s left", p->plan->section, tenths * 10, left);
}

void progress_launch(struct progress *p, int launch, int attempt, size_t closed)
{
    p->launch = launch;
    p->attempt = attempt;
    p->closed = closed;
    if (!p->began_ns) {
        p->began_ns = clock_now_ns();
        p->began_launch = launch;
        p->tenths = (int)(fraction(p, NULL) * 10);
    }
    if (p->style != PROGRESS_PLAIN)
        return;
    char again[32] = "";
    if (attempt > 1)
        snprintf(again, sizeof again, ", attempt %d", attempt);
    say("%s: launch %d of %lld%s, %zu of %zu groups to measure", p->plan->section, launch,
        launches_of(p), again, p->plan->n_groups - closed, p->plan->n_groups);
}

void progress_beat(struct progress *p, const struct control *beat)
{
    if (p->style == PROGRESS_TERMINAL)
        draw(p, beat);
    else if (p->style == PROGRESS_PLAIN)
        say_tenth(p, beat);
}

void progress_clear(struct progress *p)
{
    if (p->drawn)
        fputs("\r\x1b[K", stderr);
    p->drawn = false;
}

void progress_warn(struct progress *p, const char *text, const char *cell)
{
    const struct cell *c = plan_cell_find(p->plan, cell);
    char name[256] = "";
    if (!strcmp(p->warned, text))
        return;
    snprintf(p->warned, sizeof p->warned, "%s", text);
    progress_clear(p);
    if (c)
        plan_cell_name(p->plan, c, name, sizeof name);
    say("%s: warning: %s%s%s", p->plan->section, text, c ? "; cell: " : "", name);
}
