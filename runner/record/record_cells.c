/* SPDX-License-Identifier: Apache-2.0 */
#include "record/record_cells.h"

#include "base/jsontext.h"
#include "config/params.h"

#include <math.h>

json_t *record_note_line(const char *cell, int copy, const char *key, const char *value)
{
    return json_pack("{ss ss si so so}", "type", "note", "cell", cell, "copy", copy, "key",
                     json_text(key), "value", json_text(value));
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
    for (m++; m[-1].name && m->name; m++)
        json_array_append_new(
            list, json_pack("{so so}", "name", json_text(m->name), "unit", json_text(m->unit)));
    return list;
}

json_t *record_cell_line(const struct plan *p, const struct group *g, const struct cell *c,
                         int copy, unsigned iters, size_t prepared)
{
    return json_pack("{ss ss ss si so so so sI sf sb sI so sb sI}", "type", "cell", "cell", c->id,
                     "group", g->id, "copy", copy, "config", json_text(c->config), "mode",
                     json_text(c->mode), "params", params(p, c), "size_B",
                     (json_int_t)c->shape.size_B, "busbw_factor", c->shape.busbw_factor, "span",
                     c->shape.span, "iters", (json_int_t)iters, "metrics",
                     metrics_after_first(p->plugin->wl.metrics), "baseline", c->baseline,
                     "prepared", (json_int_t)prepared);
}

json_t *record_closed_cell(const struct cell *c, int copy, size_t blocks, bool converged,
                           double half_width)
{
    json_t *o = json_pack("{ss si sI sb}", "cell", c->id, "copy", copy, "blocks",
                          (json_int_t)blocks, "converged", converged);
    if (isfinite(half_width))
        json_object_set_new(o, "half_width", json_real(half_width));
    return o;
}

json_t *record_group_line(const struct group *g, int blocks, json_t *cells)
{
    return json_pack("{ss ss si so}", "type", "group", "group", g->id, "blocks", blocks, "cells",
                     cells);
}
