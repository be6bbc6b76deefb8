/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/control.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/jsontext.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Launches to measure: one may replace another. */
static long long launches_of(const struct progress *p)
{
    long long planned = p->plan->set.measure.launches;
    return p->launch > planned ? p->launch : planned;
}

/* The share of this launch that is done; groups are closed, or given up. */
static double of_launch(const struct progress *p, const struct control *beat)
{
    size_t all = p->plan->n_groups, done = p->closed;
    if (beat && beat->groups > 0 && beat->groups_done <= beat->groups) {
        size_t left = (size_t)(beat->groups - beat->groups_done);
        done = left < all ? all - left : 0;
    }
    return all ? (double)done / (double)all : 1;
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

void progress_launch(struct progress *p, int launch, int attempt, size_t closed)
{
    p->launch = launch;
    p->closed = closed;
    if (!p->began_ns) {
        p->began_ns = clock_now_ns();
        p->began_launch = launch;
        p->tenths = (int)(fraction(p, NULL) * 10);
    }
    char again[32] = "";
    if (attempt > 1)
        snprintf(again, sizeof again, ", attempt %d", attempt);
    if (!p->quiet)
        say("%s: launch %d of %lld%s, %zu of %zu groups to measure", p->plan->section, launch,
            launches_of(p), again, p->plan->n_groups - closed, p->plan->n_groups);
}

void progress_beat(struct progress *p, const struct control *beat)
{
    int tenths = (int)(fraction(p, beat) * 10);
    if (p->quiet || tenths <= p->tenths)
        return;
    p->tenths = tenths;
    say("%s: %d%%, about %s left", p->plan->section, tenths * 10, HUMAN_TIME(time_left(p, beat)));
}

void progress_warn(struct progress *p, const char *text, const char *cell)
{
    const struct cell *c = plan_cell_find(p->plan, cell);
    char name[256] = "";
    if (!strcmp(p->warned, text))
        return;
    snprintf(p->warned, sizeof p->warned, "%s", text);
    if (c)
        plan_cell_name(p->plan, c, name, sizeof name);
    say("%s: warning: %s%s%s", p->plan->section, text, c ? "; cell: " : "", name);
}
