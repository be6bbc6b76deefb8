/* SPDX-License-Identifier: Apache-2.0 */
#include "suspects/rank_facts.h"

#include "base/jsontext.h"
#include "base/text.h"
#include "record/recorded_cells.h"
#include "record/throttle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static void read_ways(struct rank_facts *r, const json_t *ways)
{
    r->n_ways = json_array_size(ways);
    r->ways = xcalloc(r->n_ways + 1, sizeof *r->ways);
    for (size_t i = 0; i < r->n_ways; i++) {
        const char *way = json_string_value(json_array_get(ways, i));
        r->ways[i] = xstrdup(way ? way : "");
    }
}

static int index_on_host(const struct rank_facts *ranks, size_t rank)
{
    int index = 0;
    for (size_t i = 0; i < rank; i++)
        index += ranks[i].host && rank_facts_same_host(&ranks[i], &ranks[rank]);
    return index;
}

static void read_host(struct rank_facts *ranks, size_t rank, const json_t *host)
{
    struct rank_facts *r = &ranks[rank];
    const json_t *gpu = json_object_get(host, "gpu");
    r->host = xstrdup(json_text_of(host, "host"));
    r->gpu = gpu;
    r->model = xstrdup(gpu ? json_text_of(gpu, "name") : json_text_of(host, "cpu"));
    r->uuid = xstrdup(json_text_of(gpu, "uuid"));
    r->pcie_width = number(gpu, "pcie_width");
    r->nvlinks = number(gpu, "nvlinks");
    read_ways(r, json_object_get(gpu, "pcie_ways"));
    r->index = gpu ? (int)number(gpu, "index") : index_on_host(ranks, rank);
}

void rank_facts_read(struct rank_facts *ranks, size_t n, const json_t *hosts)
{
    for (size_t i = 0; i < n; i++) {
        const json_t *host = json_array_get(hosts, i), *gpu = json_object_get(host, "gpu");
        if (!ranks[i].host)
            read_host(ranks, i, host);
        ranks[i].nvlink_errors = number(gpu, "nvlink_errors"); /* of the last launch */
    }
}

/* ---- readings ---- */

static void add(struct rank_facts *r, enum reading k, double value)
{
    if (isfinite(value)) {
        r->sum[k] += value;
        r->count[k]++;
    }
}

static void add_reasons(struct rank_facts *r, const json_t *reasons)
{
    bool slowed = false;
    r->readings += json_is_array(reasons);
    for (size_t i = 0; i < json_array_size(reasons); i++) {
        const char *reason = json_string_value(json_array_get(reasons, i));
        if (!reason || !throttle_follows_load(reason))
            continue;
        slowed = true;
        if (r->reasons && strstr(r->reasons, reason))
            continue;
        char *all = r->reasons ? xstrfmt("%s, %s", r->reasons, reason) : xstrdup(reason);
        free(r->reasons);
        r->reasons = all;
    }
    r->throttled += slowed;
}

void rank_facts_health(struct rank_facts *ranks, size_t n, const json_t *health)
{
    static const struct {
        enum reading k;
        const char *key;
        bool gpu;
    } keys[] = {{READING_SM_HZ, "sm_Hz", true},
                {READING_MEMORY_HZ, "memory_Hz", true},
                {READING_POWER_W, "power_W", true},
                {READING_TEMPERATURE_C, "temperature_C", true},
                {READING_OWN_CORES, "own_cores", false}};
    const json_t *after = json_object_get(health, "after");
    for (size_t i = 0; i < n; i++) {
        char rank[24];
        snprintf(rank, sizeof rank, "%zu", i);
        const json_t *now = json_object_get(after, rank), *gpu = json_object_get(now, "gpu");
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            add(&ranks[i], keys[k].k, number(keys[k].gpu ? gpu : now, keys[k].key));
        add_reasons(&ranks[i], json_object_get(gpu, "throttle"));
    }
}

double rank_facts_reading(const struct rank_facts *r, enum reading k)
{
    return r->count[k] > 0 ? r->sum[k] / r->count[k] : NAN;
}

/* ---- links ---- */

bool rank_facts_same_host(const struct rank_facts *a, const struct rank_facts *b)
{
    return !strcmp(a->host, b->host);
}

const char *rank_facts_link(const struct rank_facts *a, const struct rank_facts *b)
{
    size_t to = (size_t)b->index;
    if (!rank_facts_same_host(a, b))
        return "network";
    if (a->nvlinks > 0 && b->nvlinks > 0)
        return "NVLink";
    return a->gpu && b->gpu && to < a->n_ways ? a->ways[to] : "host";
}

void rank_facts_free(struct rank_facts *r)
{
    for (size_t i = 0; i < r->n_ways; i++)
        free(r->ways[i]);
    free(r->ways);
    free(r->host);
    free(r->model);
    free(r->uuid);
    free(r->reasons);
}
