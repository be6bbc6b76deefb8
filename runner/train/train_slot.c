/* SPDX-License-Identifier: Apache-2.0 */
#include "train/train_slot.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "config/params.h"
#include "record/ledger.h"
#include "record/raw.h"
#include "record/record_cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHED "launched"

const char *train_slot_name(const struct plan *p, const struct train_slot *s, char *buf, size_t n)
{
    AUTO_TEXT struct text t = {0};
    char value[WL_TEXT_MAX];
    text_addf(&t, "%s%s", s->cell->config, s->copy ? " again" : "");
    size_t stem = t.len;
    for (const struct wl_param *q = p->plugin->wl.params; q->name && p->n_groups > 1; q++)
        if (q->role == WL_AXIS)
            text_addf(&t, "%s%s=%s", t.len > stem ? " " : " (", q->name,
                      param_format(q, s->cell->values, value, sizeof value));
    snprintf(buf, n, "%s%s", t.s, t.len > stem ? ")" : "");
    return buf;
}

size_t train_slots_make(struct train_slot **slots, const struct plan *p, const struct group *g)
{
    size_t n = 0;
    *slots = xcalloc(2 * g->n, sizeof **slots);
    for (size_t i = g->first; i < g->first + g->n; i++)
        for (int copy = 0; copy < group_copies(p, g, &p->cells[i]); copy++)
            (*slots)[n++] = (struct train_slot){.cell = &p->cells[i], .copy = copy};
    return n;
}

static int put_block(struct record *r, struct train_slot *s, const struct train_step *steps,
                     size_t n)
{
    AUTO_FREE uint64_t *ns = xcalloc(n, sizeof *ns);
    for (size_t i = 0; i < n; i++)
        ns[i] = steps[i].ns;
    return record_block(r,
                        json_pack("{ss ss si sI sf si}", "type", "block", "cell", s->cell->id,
                                  "copy", s->copy, "block", (json_int_t)++s->blocks, "at",
                                  round(steps->at * 1e3) / 1e3, "iters", 1),
                        ns, n);
}

int train_slot_record(struct record *r, struct train_slot *s, const struct train_step *steps,
                      size_t n, int64_t max_blocks, double took_s)
{
    size_t each = (n + (size_t)max_blocks - 1) / (size_t)max_blocks;
    int code = GS_OK;
    for (size_t i = 0; i < n && !code; i += each)
        code = put_block(r, s, steps + i, n - i < each ? n - i : each);
    AUTO_FREE char *text = xstrfmt("%zu step times in %.1f s", n, took_s);
    if (!code)
        code = record_line(r, record_note_line(s->cell->id, s->copy, LAUNCHED, text));
    s->measured = !code;
    return code ? code : record_sync(r);
}

/* ---- earlier attempts ---- */

struct carrier {
    struct record *to;
    struct train_slot *slots;
    size_t n;
    bool *theirs; /* slots that this attempt has measured */
};

static struct train_slot *slot_of(const struct carrier *c, const struct raw_line *l)
{
    const char *cell = json_text_of(l->json, "cell");
    int64_t copy = json_integer_value(json_object_get(l->json, "copy"));
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->slots[i].cell->id, cell) && c->slots[i].copy == copy)
            return &c->slots[i];
    return NULL;
}

static bool is_launched(const struct raw_line *l)
{
    return l->type == RAW_NOTE && !strcmp(json_text_of(l->json, "key"), LAUNCHED);
}

static int mark(struct carrier *c, struct train_slot *s, const struct raw_line *l)
{
    if (l->type == RAW_FAIL)
        s->failed = true;
    else if (is_launched(l) && !s->measured)
        c->theirs[s - c->slots] = true;
    return GS_OK;
}

static int copy_line(struct carrier *c, struct train_slot *s, const struct raw_line *l)
{
    if (!c->theirs[s - c->slots] || l->type == RAW_FAIL)
        return GS_OK;
    s->measured = true;
    s->blocks += l->type == RAW_BLOCK;
    json_t *line = json_copy(l->json);
    json_object_del(line, "chain"); /* of its own file */
    return l->type == RAW_BLOCK ? record_block(c->to, line, l->time_ns, l->n)
                                : record_line(c->to, line);
}

static int each_line(struct carrier *c, const char *path,
                     int (*take)(struct carrier *, struct train_slot *, const struct raw_line *))
{
    const unsigned want = 1u << RAW_CELL | 1u << RAW_NOTE | 1u << RAW_BLOCK | 1u << RAW_FAIL;
    AUTO(raw_close_of) struct raw *raw = NULL;
    struct raw_line l;
    int got = 0, code = raw_open(&raw, path);
    if (code)
        return code;
    while (!code && (got = raw_next(raw, want, &l)) == 1) {
        struct train_slot *s = slot_of(c, &l);
        code = s ? take(c, s, &l) : GS_OK;
    }
    return got < 0 ? GS_FAILED : code;
}

int train_slots_carry(struct record *r, struct train_slot *slots, size_t n, const char *dir,
                      int launch)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    int code = ledger_read(&l, dir);
    if (code)
        return code;
    for (size_t i = 0; i < l->n_files && !code; i++) {
        struct carrier c = {r, slots, n, xcalloc(n, sizeof *c.theirs)};
        const char *path = l->files[i].path;
        if (l->files[i].launch == launch && strcmp(path, r->path))
            code = each_line(&c, path, mark) ? GS_FAILED : each_line(&c, path, copy_line);
        free(c.theirs);
    }
    return code;
}
