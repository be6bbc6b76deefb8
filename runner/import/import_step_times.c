/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "import/import_step.h"
#include "import/trace_event.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define COPY_LEAST_B 4194304
#define COPY_SHARE 0.82 /* of the data sheet's memory rate; H200s copied at 0.80 to 0.83 of it */
#define IDLE_SHARE 0.1  /* of a step without any kernel that is worth a warning */

/* Memory rates of NVIDIA's data sheets, bytes a second; the first name that the GPU's contains. */
static const struct {
    const char *name;
    double rate;
} gpus[] = {{"B200", 8e12},          {"H200", 4.8e12},       {"H100 NVL", 3.9e12},
            {"H100 PCIe", 2e12},     {"H100", 3.35e12},      {"A100-SXM4-80GB", 2.039e12},
            {"A100 80GB", 1.935e12}, {"A100", 1.555e12},     {"L40S", 0.864e12},
            {"V100", 0.9e12},        {"", 2e12 / COPY_SHARE}};

static double data_sheet_rate(const struct trace_events *t)
{
    const json_t *device = json_array_get(json_object_get(t->json, "deviceProperties"), 0);
    const char *name = json_text_of(device, "name");
    size_t i = 0;
    while (!strstr(name, gpus[i].name))
        i++;
    return COPY_SHARE * gpus[i].rate;
}

double trace_copy_rate(const struct trace_events *t)
{
    double bytes = 0, us = 0;
    int64_t largest = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->event[i].copied_B > largest)
            largest = t->event[i].copied_B;
    for (size_t i = 0; largest >= COPY_LEAST_B && i < t->n; i++)
        if (t->event[i].copied_B > largest / 2 && t->event[i].dur > 0) {
            bytes += 2 * (double)t->event[i].copied_B;
            us += t->event[i].dur;
        }
    return us > 0 ? bytes / us * 1e6 : data_sheet_rate(t);
}

struct times { /* us */
    double gemms, others, collectives, busy, begin, end;
};

static int by_begin(const void *a, const void *b)
{
    const struct trace_event *x = *(struct trace_event *const *)a;
    const struct trace_event *y = *(struct trace_event *const *)b;
    return (x->ts > y->ts) - (x->ts < y->ts);
}

static void add(struct times *s, const struct trace_events *t, const struct trace_event *e)
{
    const struct trace_event *op = trace_op(t, e->id);
    double end = e->ts + e->dur;
    if (e->kind == TRACE_NCCL)
        s->collectives += e->dur;
    else if (op && op->op != TRACE_OTHER)
        s->gemms += e->dur;
    else
        s->others += e->dur;
    s->begin = s->end > 0 ? s->begin : e->ts;
    if (end > s->end) {
        s->busy += end - (e->ts > s->end ? e->ts : s->end);
        s->end = end;
    }
}

static struct times times_of(const struct trace_events *t, double from, double to)
{
    AUTO_FREE const struct trace_event **v = xcalloc(t->n + 1, sizeof *v);
    struct times s = {0};
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct trace_event *e = &t->event[i];
        double at = trace_launch(t, e);
        if ((e->kind == TRACE_KERNEL || e->kind == TRACE_NCCL) && at >= from && at < to)
            v[n++] = e;
    }
    qsort(v, n, sizeof *v, by_begin);
    for (size_t i = 0; i < n; i++)
        add(&s, t, v[i]);
    return s;
}

static double flops_of(const struct step_draft *d)
{
    double sum = 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->line[i].kind == STEP_GEMM)
            sum += 2.0 * (double)d->line[i].number[STEP_M].value *
                   (double)d->line[i].number[STEP_N].value *
                   (double)d->line[i].number[STEP_K].value *
                   (double)d->line[i].number[STEP_COUNT].value;
    return sum;
}

void step_times_report(struct step_draft *d, const struct trace_events *t, double from, double to,
                       double rate)
{
    struct times s = times_of(t, from, to);
    AUTO_TEXT struct text text = {0};
    double gemms_s = s.gemms > 0 ? s.gemms * 1e-6 : 1;
    text_addf(&text,
              "step %.1f ms in the trace: GEMMs %.1f ms (%.3g TFLOP/s), other kernels %.1f ms (as "
              "copies at %.2f TB/s), collectives %.1f ms, no kernel %.1f ms",
              (s.end - s.begin) * 1e-3, s.gemms * 1e-3, flops_of(d) / gemms_s * 1e-12,
              s.others * 1e-3, rate * 1e-12, s.collectives * 1e-3,
              (s.end - s.begin - s.busy) * 1e-3);
    say("%s: %s", d->path, text.s);
    double kernels = s.gemms + s.others;
    if (s.collectives > 0 && kernels < s.busy)
        say("%s: a replay on this GPU should take %.1f to %.1f ms (without collectives, and with "
            "all "
            "of their time in the trace)",
            d->path, kernels * 1e-3, s.busy * 1e-3);
    else
        say("%s: a replay on this GPU should take about %.1f ms", d->path, s.busy * 1e-3);
    double idle = s.end > s.begin ? 1 - s.busy / (s.end - s.begin) : 0;
    if (idle > IDLE_SHARE)
        say("%s: the GPU waited for the CPU in %.0f%% of the step, which a replay does not: "
            "settings "
            "matter more in the replay than in this training, unless the profiler slowed it down",
            d->path, 100 * idle);
    text_addf(&d->head, "%s\n", text.s);
}
