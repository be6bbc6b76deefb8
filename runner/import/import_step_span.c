/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/text.h"
#include "import/import_step.h"
#include "import/trace_event.h"

#include <stdlib.h>

struct span {
    double from, to;
    const char *name;
};

static int by_length(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->to - x->from > y->to - y->from) - (x->to - x->from < y->to - y->from);
}

static int by_end(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->to > y->to) - (x->to < y->to);
}

static size_t find_spans(const struct trace_events *t, enum trace_kind kind, struct span *out)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct trace_event *e = &t->event[i];
        if (e->kind == kind)
            out[n++] = (struct span){e->ts, e->ts + e->dur, e->name};
    }
    return n;
}

/* From the end of one optimizer to the end of the next; returns how many such steps there are. */
static size_t cut_at_optimizers(const struct trace_events *t, struct span *out)
{
    size_t n = find_spans(t, TRACE_OPTIMIZER, out);
    qsort(out, n, sizeof *out, by_end);
    for (size_t i = 0; i + 1 < n; i++)
        out[i] = (struct span){out[i].to, out[i + 1].to, out[i + 1].name};
    return n ? n - 1 : 0;
}

void trace_choose_step(struct step_draft *d, const struct trace_events *t, double *from, double *to)
{
    struct text *head = &d->head;
    AUTO_FREE struct span *step = xcalloc(t->n + 1, sizeof *step);
    size_t n = find_spans(t, TRACE_STEP, step);
    bool marked = n > 0;
    n = marked ? n : cut_at_optimizers(t, step);
    qsort(step, n, sizeof *step, by_length);
    const struct span median = n ? step[(n - 1) / 2] : (struct span){-1e300, 1e300, ""};
    *from = median.from;
    *to = median.to;
    text_addf(head, "From %s, ", d->path);
    if (n)
        text_addf(head, "%s%.60s, the median of %zu steps: %.6g ms on the host\n", marked ? "" : "up to ",
                  median.name, n, (median.to - median.from) * 1e-3);
    else
        text_add(head, "all of it: it has no ProfilerStep marks, and no two Optimizer.step\n");
    if (!n)
        say("%s: no ProfilerStep marks, and no two Optimizer.step: all of it counts as one step",
            d->path);
}
