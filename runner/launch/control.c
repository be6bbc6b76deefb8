/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/control.h"

#include "base/jsontext.h"

#include <stdio.h>
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

#define N_MEMBERS (sizeof members / sizeof *members)
#define N_EVENTS (sizeof event_names / sizeof *event_names)

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
