/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/compose.h"

#include "base/err.h"
#include "base/text.h"
#include "base/units.h"
#include "cluster/script.h"
#include "cluster/slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes ---- */

static int launches_of_a_task(const struct plan *p)
{
    int64_t n = p->set.slurm.launches;
    return (int)(n < p->set.measure.launches ? n : p->set.measure.launches);
}

static struct shape *shape_of(struct shapes *s, char *text)
{
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->v[i].text, text)) {
            free(text);
            return &s->v[i];
        }
    APPEND(s->v, s->n) = (struct shape){.text = text};
    return &s->v[s->n - 1];
}

int compose_shapes(struct shapes *s, struct plan *const *plans, size_t n)
{
    const struct config *refused = NULL; /* report the faults of a [slurm] once, not per workload */
    *s = (struct shapes){0};
    for (size_t i = 0; i < n; i++) {
        struct text t = {0};
        if (plans[i]->config == refused)
            continue;
        if (script_shape(&t, plans[i]))
            refused = plans[i]->config;
        struct shape *h = shape_of(s, t.s);
        double time_s = script_time_most(plans[i], launches_of_a_task(plans[i]));
        h->time_s = time_s > h->time_s ? time_s : h->time_s;
        APPEND(h->plans, h->n) = i;
    }
    return refused ? GS_USAGE : GS_OK;
}

void shapes_free(struct shapes *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].text);
        free(s->v[i].plans);
    }
    free(s->v);
    *s = (struct shapes){0};
}

/* ---- limits ---- */

static int refuse_time(const struct plan *p, const struct partition *q, double needed)
{
    char given[32], most[32], need[32];
    return config_error(config_find(p->config, "slurm", "time"),
                        "%s, but partition '%s' allows at most %s; lower it, or leave it out (the "
                        "plan needs %s at least)",
                        units_human_time(given, sizeof given, p->set.slurm.time), q->name,
                        units_human_time(most, sizeof most, q->max_time_s),
                        units_human_time(need, sizeof need, needed));
}

static int check_plan(const struct plan *p, const struct partition *q)
{
    char need[32], most[32];
    int64_t nodes = p->set.slurm.nodes ? p->set.slurm.nodes : p->set.launch.nodes;
    double least = script_time_least(p, launches_of_a_task(p)), given = p->set.slurm.time;
    if (nodes > q->total_nodes || nodes > q->max_nodes)
        return fail_at(GS_USAGE, p->config->path, 0,
                       "%s: %lld nodes, but partition '%s' allows at most %ld per job", p->section,
                       (long long)nodes, q->name,
                       q->max_nodes < q->total_nodes ? q->max_nodes : q->total_nodes);
    if (given > q->max_time_s && least <= q->max_time_s)
        return refuse_time(p, q, least);
    if ((given > 0 ? given : least) > q->max_time_s)
        return fail_at(
            GS_USAGE, p->config->path, 0,
            "%s: a job takes %s at least, but partition '%s' ends it after %s; use a smaller "
            "[measure] budget, fewer cells per section, or another partition",
            p->section, units_human_time(need, sizeof need, least), q->name,
            units_human_time(most, sizeof most, q->max_time_s));
    return GS_OK;
}

static int check_shape(struct shape *h, struct plan *const *plans)
{
    struct partition q;
    const struct plan *p = plans[h->plans[0]];
    int code = slurm_partition(&q, p->config, p->set.slurm.partition);
    if (code)
        return code;
    if (!q.up)
        say("partition '%s' is down; the jobs wait until it is up", q.name);
    for (size_t i = 0; i < h->n && !(code && p->set.slurm.time > 0); i++) {
        int one = check_plan(plans[h->plans[i]], &q);
        code = code ? code : one;
    }
    if (h->time_s > q.max_time_s)
        h->time_s = q.max_time_s;
    return code;
}

int compose_check(struct shapes *s, struct plan *const *plans)
{
    int code = GS_OK;
    for (size_t i = 0; !code && i < s->n; i++)
        code = check_shape(&s->v[i], plans);
    return code;
}

/* ---- tasks ---- */

static int throttle_of(const struct shape *h, struct plan *const *plans)
{
    int64_t least = 0;
    for (size_t i = 0; i < h->n; i++) {
        int64_t n = plans[h->plans[i]]->set.slurm.throttle;
        least = n && (!least || n < least) ? n : least;
    }
    return (int)least;
}

/* Adds all tasks of a shape; arrays are assigned later. The first launch of every workload comes
 * before the second of any, so that figures can be drawn early. */
static void add_tasks(struct campaign *c, const struct shape *h, struct plan *const *plans)
{
    bool more = true;
    for (int round = 0; more; round++) {
        more = false;
        for (size_t i = 0; i < h->n; i++) {
            const struct plan *p = plans[h->plans[i]];
            int step = launches_of_a_task(p), first = 1 + round * step;
            int all = (int)p->set.measure.launches;
            int last = first + step - 1 < all ? first + step - 1 : all;
            if (first > all)
                continue;
            more = true;
            campaign_add_task(c, (struct camp_task){h->plans[i], 0, first, last});
        }
    }
}

static int add_array(struct campaign *c, const struct shape *h, size_t first, size_t n,
                     int throttle,
                     int (*script)(const struct campaign *, const char *, const char *))
{
    char name[32];
    AUTO_TEXT struct text t = {0};
    snprintf(name, sizeof name, "array-%zu.sh", c->n_arrays + 1);
    for (size_t i = first; i < first + n; i++)
        c->tasks[i].array = c->n_arrays;
    campaign_add_array(c, name, first, n, throttle);
    script_text(&t, &(struct script){h->text, c->dir, first, n, h->time_s});
    return script(c, name, t.s);
}

int compose_tasks(struct campaign *c, const struct shapes *s, struct plan *const *plans,
                  long array_max,
                  int (*script)(const struct campaign *, const char *, const char *))
{
    const size_t most = array_max > 2 ? (size_t)array_max - 1 : 1;
    int code = GS_OK;
    for (size_t k = 0; !code && k < s->n; k++) {
        size_t at = c->n_tasks;
        add_tasks(c, &s->v[k], plans);
        for (size_t n; !code && at < c->n_tasks; at += n) {
            n = c->n_tasks - at < most ? c->n_tasks - at : most;
            code = add_array(c, &s->v[k], at, n, throttle_of(&s->v[k], plans), script);
        }
    }
    return code;
}
