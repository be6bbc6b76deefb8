/* SPDX-License-Identifier: Apache-2.0
 *
 * The suspects for other programs: JSON, and gauges of Prometheus.
 */
#include "base/csv.h"
#include "base/jsontext.h"
#include "base/prometheus.h"
#include "base/text.h"
#include "suspects/rank_facts.h"
#include "suspects/suspects_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- JSON ---- */

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *json_finding(const struct finding *f)
{
    return json_pack("{ss so so so so}", "test", suspects_tests[f->test].name, "slower_percent",
                     number(suspects_percent(f->excess.value)), "low_percent",
                     number(suspects_percent(f->excess.lo)), "high_percent",
                     number(suspects_percent(f->excess.hi)), "p",
                     number(f->excess.p < 1 ? f->excess.p : 1));
}

static json_t *json_rank(const struct suspects_data *d, size_t rank)
{
    const struct rank_facts *r = &d->rank[rank];
    return json_pack("{sI so so so so}", "rank", (json_int_t)rank, "host", json_text(r->host),
                     "gpu", r->gpu ? json_integer(r->index) : json_null(), "model",
                     json_text(r->model), "uuid", json_text(r->uuid));
}

static json_t *json_suspect(const struct suspects_report *r, const struct suspect *s)
{
    json_t *ranks = json_array(), *findings = json_array();
    char *line = suspects_line(r, s);
    json_array_append_new(ranks, json_rank(r->d, s->a));
    if (s->kind == SUSPECT_LINK || s->kind == SUSPECT_ROUTE)
        json_array_append_new(ranks, json_rank(r->d, s->b));
    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(findings, json_finding(&s->findings[i]));
    json_t *o =
        json_pack("{ss so so sb sb so}", "kind", suspect_kinds[s->kind], "ranks", ranks, "findings",
                  findings, "silent", s->silent, "shared", s->shared, "text", json_text(line));
    free(line);
    return o;
}

void suspects_print_json(const struct suspects_report *r)
{
    json_t *suspects = json_array(), *failed = json_array(), *seen = json_object();
    for (size_t i = 0; i < r->v->n; i++)
        json_array_append_new(suspects, json_suspect(r, &r->v->v[i]));
    for (size_t i = 0; i < r->d->n_failed; i++)
        json_array_append_new(failed, json_text(r->d->failed[i]));
    for (size_t k = 0; k < SUSPECT_KINDS; k++) {
        struct suspects_seen worst = suspects_seen_in(r->v->seen[k]);
        if (worst.any)
            json_object_set_new(seen, suspect_kinds[k], json_real(100 * r->v->seen[k][worst.most]));
    }
    json_t *o =
        json_pack("{ss so so so sI sI sb so so so}", "schema", "gradsync-suspects-1", "platform",
                  json_text(r->d->platform), "run_id", json_text(r->d->run_id), "baseline",
                  r->past ? json_text(r->past) : json_null(), "ranks", (json_int_t)r->d->ranks,
                  "links", (json_int_t)r->v->links, "compared", r->v->compared, "suspects",
                  suspects, "failed", failed, "would_have_seen_percent", seen);
    char *dump = json_dumps(o, JSON_INDENT(1));
    puts(dump);
    free(dump);
    json_decref(o);
}

/* ---- Prometheus ---- */

static void add_gauge(struct text *t, const struct suspects_data *d, const struct suspect *s)
{
    char rank[24], peer[24] = "";
    double worst = s->n ? suspects_percent(s->findings[0].excess.value) : NAN;
    snprintf(rank, sizeof rank, "%zu", s->a);
    if (s->a != s->b)
        snprintf(peer, sizeof peer, "%zu", s->b);
    text_add(t, "gradsync_suspect_slower_percent{");
    prometheus_label(t, "kind", suspect_kinds[s->kind]);
    prometheus_label(t, "rank", rank);
    prometheus_label(t, "peer", peer);
    prometheus_label(t, "host", d->rank[s->a].host);
    prometheus_label(t, "uuid", d->rank[s->a].uuid);
    text_addf(t, isfinite(worst) ? "} %.3f\n" : "} NaN\n", worst);
}

int suspects_write_prometheus(const struct suspects_report *r, const char *path)
{
    struct text t = {0};
    text_addf(&t,
              "# HELP gradsync_suspects Ranks, links and hosts that are slower than their peers\n"
              "# TYPE gradsync_suspects gauge\ngradsync_suspects %zu\n",
              r->v->n);
    if (r->v->n)
        text_add(&t, "# HELP gradsync_suspect_slower_percent Time beyond that of its peers, in the "
                     "worst test\n# TYPE gradsync_suspect_slower_percent gauge\n");
    for (size_t i = 0; i < r->v->n; i++)
        add_gauge(&t, r->d, &r->v->v[i]);
    int code = csv_write_file(path, t.s);
    text_free(&t);
    return code;
}
