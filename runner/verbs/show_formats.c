/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/show_formats.h"

#include "base/csv.h"
#include "base/err.h"
#include "base/jsontext.h"
#include "base/prometheus.h"
#include "base/text.h"
#include "base/units.h"
#include "reduce/nccl_sections.h"
#include "reduce/nccl_table.h"
#include "reduce/run_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

static json_t *json_cell(const struct run_summary *s, size_t i)
{
    const struct rec_cell *c = &s->r->cells[i];
    const struct summary *m = &s->cells[i];
    const struct cell_status *o = &s->status[i];
    bool measured = o->status && isfinite(m->time_s.median);
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"median_seconds", m->time_s.median},
                   {"ci_low_seconds", m->time_s.lo},
                   {"ci_high_seconds", m->time_s.hi},
                   {"p99_seconds", m->p99_s},
                   {"algorithm_bandwidth_bytes_per_second", m->algbw},
                   {"bus_bandwidth_bytes_per_second", m->busbw}};
    json_t *out = json_pack("{so so so so sI so so si sb}", "cell", json_text(c->id), "config",
                            json_text(c->config), "mode", json_text(c->mode), "params",
                            json_text(c->params), "size_bytes", (json_int_t)c->size_B, "status",
                            json_text(o->status ? o->status : "missing"), "why", json_text(o->why),
                            "launches", o->launches, "converged", (int)o->converged);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        json_object_set_new(out, numbers[k].key,
                            measured ? json_finite(numbers[k].value) : json_null());
    return out;
}

static char *json_of(const struct run_summary *s)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < s->r->n_cells; i++)
        json_array_append_new(cells, json_cell(s, i));
    AUTO_JSON json_t *o = json_pack(
        "{ss so so so so sI sI sI so}", "schema", "gradsync-show-1", "platform",
        json_text(s->r->platform), "workload", json_text(s->r->workload), "label",
        json_text(s->r->label), "run_id", json_text(s->r->run_id), "ranks", (json_int_t)s->r->ranks,
        "nodes", (json_int_t)s->r->nodes, "launches", (json_int_t)s->r->launches, "cells", cells);
    char *dump = json_dumps(o, JSON_INDENT(1)), *text = xstrfmt("%s\n", dump);
    free(dump);
    return text;
}

/* ---- Prometheus ---- */

struct metric {
    const char *name, *help;
    double (*of)(const struct summary *m);
};

static double busbw_GBs(const struct summary *m)
{
    return m->busbw * 1e-9;
}

static double algbw_GBs(const struct summary *m)
{
    return m->algbw * 1e-9;
}

static double time_us(const struct summary *m)
{
    return m->time_s.median * 1e6;
}

/* Names and labels as NCCL's inspector writes them. */
static const struct metric metrics[] = {
    {"nccl_bus_bandwidth_gbs", "Bus bandwidth in GB/s", busbw_GBs},
    {"nccl_algorithm_bandwidth_gbs", "Algorithm bandwidth in GB/s", algbw_GBs},
    {"nccl_collective_exec_time_microseconds", "Median time of a collective in microseconds",
     time_us},
};

static const char *const inspector_names[COLLECTIVES] = {[COLLECTIVE_ALLREDUCE] = "AllReduce",
                                                         [COLLECTIVE_ALLGATHER] = "AllGather",
                                                         [COLLECTIVE_REDUCESCATTER] =
                                                             "ReduceScatter",
                                                         [COLLECTIVE_ALLTOALL] = "AlltoAll",
                                                         [COLLECTIVE_BROADCAST] = "Broadcast",
                                                         [COLLECTIVE_REDUCE] = "Reduce",
                                                         [COLLECTIVE_SENDRECV] = "SendRecv"};

static void add_series(struct text *t, const struct metric *k, const struct run_summary *s,
                       size_t i)
{
    char size[32], ranks[24], nodes[24];
    const struct rec_cell *c = &s->r->cells[i];
    const char *collective = inspector_names[nccl_sections_collective(c)];
    units_size(size, sizeof size, (uint64_t)c->size_B);
    snprintf(ranks, sizeof ranks, "%lld", (long long)s->r->ranks);
    snprintf(nodes, sizeof nodes, "%lld", (long long)s->r->nodes);
    const char *const labels[][2] = {{"source", "gradsync"},
                                     {"platform", s->r->platform},
                                     {"workload", s->r->workload},
                                     {"run_id", s->r->run_id},
                                     {"cell", c->id},
                                     {"config", c->config},
                                     {"mode", c->mode},
                                     {"collective", collective},
                                     {"message_size", size},
                                     {"algo_proto", c->ran},
                                     {"nranks", ranks},
                                     {"n_nodes", nodes}};
    text_addf(t, "%s{", k->name);
    for (size_t n = 0; n < sizeof labels / sizeof *labels; n++)
        prometheus_label(t, labels[n][0], labels[n][1]);
    text_addf(t, "} %.6g\n", k->of(&s->cells[i]));
}

static char *prometheus_of(const struct run_summary *s)
{
    struct text t = {0};
    for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++) {
        bool any = false;
        for (size_t i = 0; i < s->r->n_cells; i++) {
            if (!nccl_sections_has(&s->r->cells[i], &s->cells[i]))
                continue;
            if (!any)
                text_addf(&t, "# HELP %s %s\n# TYPE %s gauge\n", metrics[k].name, metrics[k].help,
                          metrics[k].name);
            any = true;
            add_series(&t, &metrics[k], s, i);
        }
    }
    return t.s;
}

/* ---- the formats ---- */

static char *nccl_of(const struct run_summary *s)
{
    return nccl_table_text(s->r, s->cells);
}

static char *nccl_json_of(const struct run_summary *s)
{
    return nccl_table_json(s->r, s->cells);
}

static const struct {
    const char *name;
    char *(*text)(const struct run_summary *s); /* NULL: no collective */
} formats[] = {{"json", json_of},
               {"nccl-tests", nccl_of},
               {"nccl-tests-json", nccl_json_of},
               {"prometheus", prometheus_of}};

static int write_text(const char *text, const char *out)
{
    if (out)
        return csv_write_file(out, text);
    fputs(text, stdout);
    return GS_OK;
}

int show_format(const char *dir, const char *format, const char *out)
{
    AUTO(run_summary_free) struct run_summary s = {0};
    size_t k = 0;
    while (k < COUNT(formats) && strcmp(formats[k].name, format))
        k++;
    if (k == COUNT(formats))
        return fail(GS_USAGE,
                    "show: no format '%s'%s; formats are json, nccl-tests, nccl-tests-json and "
                    "prometheus",
                    format, DID_YOU_MEAN(NEAREST(format, formats, COUNT(formats), name)));
    int code = run_summary_read(&s, dir);
    AUTO_FREE char *text = code ? NULL : formats[k].text(&s);
    if (!code && !text)
        code =
            fail(GS_USAGE, "%s: holds no collective, which %s needs; --format json has all cells",
                 dir, format);
    return code ? code : write_text(text, out);
}
