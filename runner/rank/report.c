/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/report.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "record/raw.h"
#include "record/record.h"

#include <math.h>
#include <stdlib.h>

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

void report_note(struct report *r, const char *cell, int copy, const char *key, const char *value)
{
    line(r, record_note_line(cell, copy, key, value));
}

static json_t *metric_medians(const struct wl_metric *metrics, const struct visited *v)
{
    json_t *o = json_object();
    for (size_t m = 1; metrics[m].name; m++)
        json_object_set_new(o, metrics[m].name, json_finite(v->metrics[m]));
    return o;
}

static json_t *each_rank(const struct wl_metric *metrics, const double *each, int ranks)
{
    json_t *o = json_object();
    for (int m = 1; metrics[m].name; m++) {
        if (metrics[m].across != WL_EACH)
            continue;
        json_t *row = json_array();
        for (int r = 0; r < ranks; r++)
            json_array_append_new(row, json_finite(each[m * ranks + r]));
        json_object_set_new(o, metrics[m].name, row);
    }
    return o;
}

void report_block(struct report *r, const struct plan *p, const struct group *g, struct slot *s,
                  int block)
{
    if (!r->writes || r->code)
        return;
    if (!s->told)
        line(r, record_cell_line(p, g, s->cell, s->copy, s->iters, s->prepared_as));
    if (r->code)
        return;
    s->told = true;
    const struct visited *v = &s->visited;
    json_t *o = json_pack("{ss ss si si sf sI sI sI}", "type", "block", "cell", s->cell->id, "copy",
                          s->copy, "block", block, "at", round(v->at * 1e3) / 1e3, "iters",
                          (json_int_t)s->iters, "skew_ns", (json_int_t)v->skew_ns, "spread_ns",
                          (json_int_t)v->spread_ns);
    if (p->plugin->wl.metrics[1].name)
        json_object_set_new(o, "metrics", metric_medians(p->plugin->wl.metrics, v));
    if (v->each)
        json_object_set_new(o, "each",
                            each_rank(p->plugin->wl.metrics, v->each, (int)p->set.launch.ranks));
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
    line(r, json_pack("{ss ss si so so}", "type", "health", "group", g->id, "block", block,
                      "before", before, "after", after));
}

void report_fail(struct report *r, const struct slot *s, const struct report_fail *f)
{
    line(r, raw_fail_line(&(struct raw_death){.cell = s->cell->id,
                                              .kind = f->kind,
                                              .why = f->why,
                                              .host = f->host,
                                              .phase = f->phase,
                                              .copy = s->copy,
                                              .rank = f->rank}));
}

void report_group(struct report *r, const struct group *g, const struct slot *slots, size_t n,
                  int blocks)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct slot *s = &slots[i];
        if (s->live)
            json_array_append_new(cells, record_closed_cell(s->cell, s->copy, (size_t)s->blocks,
                                                            s->converged, s->half_width));
    }
    line(r, record_group_line(g, blocks, cells));
}

void report_end(struct report *r, const char *status)
{
    line(r, raw_end_line(status));
}
