/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/report.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "config/params.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

void report_begin(struct report *r, bool writes)
{
    *r = (struct report){.writes = writes, .waiting = writes ? json_array() : NULL};
}

static void line(struct report *r, json_t *object)
{
    if (!r->writes || r->code)
        json_decref(object);
    else if (!r->open)
        json_array_append_new(r->waiting, object);
    else
        r->code = record_line(&r->record, object);
}

void report_open(struct report *r, const char *path, json_t *header)
{
    size_t i;
    json_t *waiting;
    if (r->writes && !r->code)
        r->code = record_create(&r->record, path);
    r->open = r->writes && !r->code;
    line(r, header);
    json_array_foreach(r->waiting, i, waiting) line(r, json_incref(waiting));
    json_decref(r->waiting);
    r->waiting = NULL;
}

void report_close(struct report *r)
{
    json_decref(r->waiting);
    r->waiting = NULL;
    int code = r->open ? record_close(&r->record) : GS_OK;
    r->code = r->code ? r->code : code;
    r->open = false;
}

void report_sync(struct report *r)
{
    if (r->open && !r->code)
        r->code = record_sync(&r->record);
}

static json_t *typed(const char *type)
{
    json_t *o = json_object();
    json_object_set_new(o, "type", json_string(type));
    return o;
}

void report_note(struct report *r, const char *cell, int copy, const char *key, const char *value)
{
    json_t *o = typed("note");
    json_object_set_new(o, "cell", json_string(cell));
    json_object_set_new(o, "copy", json_integer(copy));
    json_object_set_new(o, "key", json_text(key));
    json_object_set_new(o, "value", json_text(value));
    line(r, o);
}

static json_t *params(const struct plan *p, const struct cell *c)
{
    char buf[4 * WL_TEXT_MAX];
    json_t *o = json_object();
    for (const struct wl_param *q = p->plugin->wl.params; q->name; q++)
        if (plugin_has_param(&p->plugin->wl, q, c->values))
            json_object_set_new(o, q->name, json_text(param_format(q, c->values, buf, sizeof buf)));
    return o;
}

static json_t *metrics_after_first(const struct wl_metric *m)
{
    json_t *list = json_array();
    for (m++; m[-1].name && m->name; m++) {
        json_t *o = json_object();
        json_object_set_new(o, "name", json_text(m->name));
        json_object_set_new(o, "unit", json_text(m->unit));
        json_array_append_new(list, o);
    }
    return list;
}

static void tell_cell(struct report *r, const struct plan *p, const struct group *g,
                      const struct slot *s)
{
    const struct cell *c = s->cell;
    json_t *o = typed("cell");
    json_object_set_new(o, "cell", json_string(c->id));
    json_object_set_new(o, "group", json_string(g->id));
    json_object_set_new(o, "copy", json_integer(s->copy));
    json_object_set_new(o, "config", json_text(c->config));
    json_object_set_new(o, "mode", json_text(c->mode));
    json_object_set_new(o, "params", params(p, c));
    json_object_set_new(o, "size_B", json_integer((json_int_t)c->shape.size_B));
    json_object_set_new(o, "busbw_factor", json_real(c->shape.busbw_factor));
    json_object_set_new(o, "span", json_boolean(c->shape.span));
    json_object_set_new(o, "iters", json_integer(s->iters));
    json_object_set_new(o, "metrics", metrics_after_first(p->plugin->wl.metrics));
    json_object_set_new(o, "baseline", json_boolean(c->baseline));
    json_object_set_new(o, "prepared", json_integer((json_int_t)s->prepared_as));
    line(r, o);
}

static json_t *metric_medians(const struct wl_metric *metrics, const struct visited *v)
{
    json_t *o = json_object();
    for (size_t m = 1; metrics[m].name; m++) {
        json_t *value = json_real(v->metrics[m]); /* NULL when not finite */
        json_object_set_new(o, metrics[m].name, value ? value : json_null());
    }
    return o;
}

void report_block(struct report *r, const struct plan *p, const struct group *g, struct slot *s,
                  int block)
{
    if (!r->writes || r->code)
        return;
    if (!s->told)
        tell_cell(r, p, g, s);
    if (r->code)
        return;
    s->told = true;
    const struct visited *v = &s->visited;
    json_t *o = typed("block");
    json_object_set_new(o, "cell", json_string(s->cell->id));
    json_object_set_new(o, "copy", json_integer(s->copy));
    json_object_set_new(o, "block", json_integer(block));
    json_object_set_new(o, "at", json_real(round(v->at * 1e3) / 1e3));
    json_object_set_new(o, "iters", json_integer(s->iters));
    json_object_set_new(o, "skew_ns", json_integer((json_int_t)v->skew_ns));
    json_object_set_new(o, "spread_ns", json_integer((json_int_t)v->spread_ns));
    if (p->plugin->wl.metrics[1].name)
        json_object_set_new(o, "metrics", metric_medians(p->plugin->wl.metrics, v));
    r->code = record_block(&r->record, o, v->time_ns, v->n);
}

void report_health(struct report *r, const struct group *g, int block, json_t *before,
                   json_t *after)
{
    if (!before || !after) {
        json_decref(before);
        json_decref(after);
        return;
    }
    json_t *o = typed("health");
    json_object_set_new(o, "group", json_string(g->id));
    json_object_set_new(o, "block", json_integer(block));
    json_object_set_new(o, "before", before);
    json_object_set_new(o, "after", after);
    line(r, o);
}

void report_fail(struct report *r, const struct slot *s, const struct report_fail *f)
{
    json_t *o = typed("fail");
    json_object_set_new(o, "cell", json_string(s->cell->id));
    json_object_set_new(o, "copy", json_integer(s->copy));
    json_object_set_new(o, "kind", json_string(f->kind));
    json_object_set_new(o, "why", json_text(f->why));
    json_object_set_new(o, "rank", json_integer(f->rank));
    json_object_set_new(o, "host", json_text(f->host));
    json_object_set_new(o, "phase", json_string(f->phase));
    line(r, o);
}

void report_group(struct report *r, const struct group *g, const struct slot *slots, size_t n,
                  int blocks)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct slot *s = &slots[i];
        if (!s->live)
            continue;
        json_t *o = json_object();
        json_object_set_new(o, "cell", json_string(s->cell->id));
        json_object_set_new(o, "copy", json_integer(s->copy));
        json_object_set_new(o, "blocks", json_integer((json_int_t)s->blocks));
        json_object_set_new(o, "converged", json_boolean(s->converged));
        json_object_set_new(o, "half_width", json_real(s->half_width));
        json_array_append_new(cells, o);
    }
    json_t *o = typed("group");
    json_object_set_new(o, "group", json_string(g->id));
    json_object_set_new(o, "blocks", json_integer(blocks));
    json_object_set_new(o, "cells", cells);
    line(r, o);
}

void report_end(struct report *r, const char *status)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    json_t *o = typed("end");
    json_object_set_new(o, "at", json_real((double)now.tv_sec + (double)now.tv_nsec * 1e-9));
    json_object_set_new(o, "status", json_string(status));
    line(r, o);
}
