/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/control.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "base/units.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const event_names[] = {"beat", "dead", "error", "done", "warn", "lost"};

/* The members beside the event: texts, and integers where size is 0. */
static const struct {
    const char *name;
    size_t offset, size;
} members[] = {
#define TEXT(m) #m, offsetof(struct control, m), sizeof((struct control *)0)->m
#define NUMBER(m) #m, offsetof(struct control, m), 0
    {TEXT(phase)},    {TEXT(cell)},   {TEXT(kind)},   {TEXT(host)},
    {TEXT(why)},      {TEXT(status)}, {NUMBER(rank)}, {NUMBER(groups_done)},
    {NUMBER(groups)}, {NUMBER(copy)}, {NUMBER(code)}};

size_t control_encode(const struct control *c, char buf[CONTROL_LINE_MAX])
{
    AUTO_JSON json_t *object = json_pack("{ss}", "event", event_names[c->event]);
    for (size_t i = 0; i < COUNT(members); i++) {
        const char *at = (const char *)c + members[i].offset;
        json_object_set_new(object, members[i].name,
                            members[i].size ? json_text(at) : json_integer(*(const int *)at));
    }
    /* The text fits: the members are short, and json_text at most doubles them. */
    size_t mark = sizeof CONTROL_MARK - 1;
    memcpy(buf, CONTROL_MARK, mark);
    size_t n = mark + json_dumpb(object, buf + mark, CONTROL_LINE_MAX - mark - 1, JSON_COMPACT);
    buf[n] = '\n';
    return n + 1;
}

bool control_decode(const char *line, struct control *out)
{
    *out = (struct control){0};
    const char *mark = strstr(line, CONTROL_MARK);
    AUTO_JSON json_t *object = mark ? json_loads(mark + sizeof CONTROL_MARK - 1, 0, NULL) : NULL;
    for (size_t i = 0; i < COUNT(members); i++) {
        const json_t *v = json_object_get(object, members[i].name);
        char *at = (char *)out + members[i].offset;
        size_t size = members[i].size;
        if (size ? !json_is_string(v) || json_string_length(v) >= size : !json_is_integer(v))
            return false;
        if (size)
            strcpy(at, json_string_value(v));
        else
            *(int *)at = (int)json_integer_value(v);
    }
    size_t k = 0;
    while (k < COUNT(event_names) && strcmp(json_text_of(object, "event"), event_names[k]))
        k++;
    out->event = (enum control_event)k;
    return k < COUNT(event_names);
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

void progress_launch(struct progress *p, int launch, int attempt, size_t closed)
{
    p->launch = launch;
    p->closed = closed;
    if (!p->began_ns) {
        p->began_ns = clock_now_ns();
        p->began = fraction(p, NULL);
        p->tenths = (int)(p->began * 10);
    }
    char again[32] = "";
    if (attempt > 1)
        snprintf(again, sizeof again, ", attempt %d", attempt);
    if (!p->quiet)
        say("%s: launch %d of %lld%s, %zu of %zu groups to measure", p->plan->section, launch,
            launches_of(p), again, p->plan->n_groups - closed, p->plan->n_groups);
}

/* What is left takes as long as what this process has done so far, in proportion. */
void progress_beat(struct progress *p, const struct control *beat)
{
    double done = fraction(p, beat), elapsed_s = (double)(clock_now_ns() - p->began_ns) * 1e-9;
    int tenths = (int)(done * 10);
    if (p->quiet || tenths <= p->tenths)
        return;
    p->tenths = tenths;
    say("%s: %d%%, about %s left", p->plan->section, tenths * 10,
        HUMAN_TIME(elapsed_s * (1 - done) / (done - p->began)));
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
