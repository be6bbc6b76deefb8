/* SPDX-License-Identifier: Apache-2.0 */
#include "suspects/suspects_data.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/stats.h"
#include "common/collective.h"
#include "config/config.h"
#include "config/settings.h"
#include "record/host_load.h"
#include "record/recorded.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a rank runs on ---- */

static double number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static int index_on_host(const struct rank_facts *ranks, size_t rank)
{
    int index = 0;
    for (size_t i = 0; i < rank; i++)
        index += ranks[i].host && suspects_same_host(&ranks[i], &ranks[rank]);
    return index;
}

static void add_fact(struct rank_facts *r, enum fact k, double value)
{
    if (isfinite(value)) {
        r->sum[k] += value;
        r->count[k]++;
    }
}

static void read_host(struct rank_facts *ranks, size_t rank, const json_t *host)
{
    struct rank_facts *r = &ranks[rank];
    const json_t *gpu = json_object_get(host, "gpu"), *ways = json_object_get(gpu, "pcie_ways"),
                 *way;
    size_t i;
    r->host = xstrdup(json_text_of(host, "host"));
    r->gpu = gpu;
    r->model = xstrdup(gpu ? json_text_of(gpu, "name") : json_text_of(host, "cpu"));
    r->uuid = xstrdup(json_text_of(gpu, "uuid"));
    add_fact(r, FACT_LANES, number(gpu, "pcie_width"));
    add_fact(r, FACT_NVLINKS, number(gpu, "nvlinks"));
    json_array_foreach(ways, i, way)
        words_add(&r->ways, json_is_string(way) ? json_string_value(way) : "");
    r->index = gpu ? (int)number(gpu, "index") : index_on_host(ranks, rank);
}

static void read_hosts(struct rank_facts *ranks, size_t n, const json_t *hosts)
{
    for (size_t i = 0; i < n; i++) {
        const json_t *host = json_array_get(hosts, i);
        if (!ranks[i].host)
            read_host(ranks, i, host);
        /* Of the last launch: the driver counts them since it was loaded. */
        ranks[i].count[FACT_NVLINK_ERRORS] = ranks[i].sum[FACT_NVLINK_ERRORS] = 0;
        add_fact(&ranks[i], FACT_NVLINK_ERRORS,
                 number(json_object_get(host, "gpu"), "nvlink_errors"));
    }
}

static void add_reasons(struct rank_facts *r, const json_t *reasons)
{
    bool slowed = false;
    const json_t *one;
    size_t i;
    json_array_foreach(reasons, i, one)
    {
        const char *reason = json_string_value(one);
        if (!reason || !host_load_slows(reason))
            continue;
        slowed = true;
        if (!words_has(&r->reasons, reason))
            words_add(&r->reasons, reason);
    }
    add_fact(r, FACT_THROTTLED, json_is_array(reasons) ? slowed : NAN);
}

static void read_health(struct rank_facts *ranks, size_t n, const json_t *health)
{
    static const struct {
        enum fact k;
        const char *key;
        bool gpu;
    } keys[] = {{FACT_SM_HZ, "sm_Hz", true},
                {FACT_MEMORY_HZ, "memory_Hz", true},
                {FACT_POWER_W, "power_W", true},
                {FACT_TEMPERATURE_C, "temperature_C", true},
                {FACT_OWN_CORES, "own_cores", false}};
    const json_t *after = json_object_get(health, "after");
    for (size_t i = 0; i < n; i++) {
        char rank[24];
        snprintf(rank, sizeof rank, "%zu", i);
        const json_t *now = json_object_get(after, rank), *gpu = json_object_get(now, "gpu");
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            add_fact(&ranks[i], keys[k].k, number(keys[k].gpu ? gpu : now, keys[k].key));
        add_reasons(&ranks[i], json_object_get(gpu, "throttle"));
    }
}

double suspects_fact(const struct rank_facts *r, enum fact k)
{
    return r->count[k] > 0 ? r->sum[k] / r->count[k] : NAN;
}

bool suspects_same_host(const struct rank_facts *a, const struct rank_facts *b)
{
    return !strcmp(a->host, b->host);
}

const char *suspects_link(const struct rank_facts *a, const struct rank_facts *b)
{
    size_t to = (size_t)b->index;
    if (!suspects_same_host(a, b))
        return "network";
    if (suspects_fact(a, FACT_NVLINKS) > 0 && suspects_fact(b, FACT_NVLINKS) > 0)
        return "NVLink";
    return a->gpu && b->gpu && to < a->ways.n ? a->ways.v[to] : "host";
}

const struct suspects_test suspects_tests[SUSPECTS_TESTS] = {
    {"gemm", "GEMM", false},
    {"memory", "memory copy", false},
    {"to_device", "copy from the host", false},
    {"from_device", "copy to the host", false},
    {"sendrecv", "send/receive", true},
    {"allreduce", "all-reduce", true},
};

#define RANKS_MAX 4096 /* the values of the pairs of more would fill the memory */

size_t suspects_entities(const struct suspects_data *d, size_t test)
{
    return suspects_tests[test].pair ? d->ranks * d->ranks : d->ranks;
}

/* ---- visits ---- */

struct reader {
    struct suspects_data *d;
    const struct recorded *r;
    int launch, first_launch; /* first_launch: so that those of several recordings differ */
    int64_t block;            /* of the last visit; 0: none of this launch */
    bool counts;              /* the blocks of this file do */
};

static void begin_visit(struct reader *in, int64_t block)
{
    struct suspects_data *d = in->d;
    in->block = block;
    d->launch = xrealloc(d->launch, (d->visits + 1) * sizeof *d->launch);
    d->launch[d->visits] = in->first_launch + in->launch;
    for (size_t t = 0; t < SUSPECTS_TESTS; t++) {
        size_t n = suspects_entities(d, t);
        d->x[t] = xrealloc(d->x[t], (d->visits + 1) * n * sizeof *d->x[t]);
        for (size_t i = 0; i < n; i++)
            d->x[t][d->visits * n + i] = NAN;
    }
    d->visits++;
}

static double log_of(const json_t *values, size_t rank)
{
    double v = json_number_value(json_array_get(values, rank));
    return v > 0 ? log(v) : NAN;
}

/* Both ranks of a pair time it; the slower one has seen it end. */
static void take_pairs(struct suspects_data *d, size_t t, const json_t *values, int round)
{
    int n = (int)d->ranks;
    double *to = d->x[t] + (d->visits - 1) * (size_t)n * (size_t)n;
    for (int a = 0; a < n; a++) {
        int b = collective_round_peer(a, round - 1, n);
        if (b < a)
            continue;
        size_t at = (size_t)a * d->ranks + (size_t)b;
        double x = log_of(values, (size_t)a), y = log_of(values, (size_t)b);
        to[at] = isfinite(x) && isfinite(y) ? fmax(x, y) : NAN;
        d->silent[at] = d->silent[at] || !isfinite(to[at]);
    }
}

static void take_ranks(struct suspects_data *d, size_t t, const json_t *values)
{
    for (size_t i = 0; i < d->ranks; i++)
        d->x[t][(d->visits - 1) * d->ranks + i] = log_of(values, i);
}

static int64_t param(const struct rec_cell *c, const char *key)
{
    char text[32];
    const char *value = recorded_param(c, key, text, sizeof text);
    return value ? atoll(value) : -1;
}

static void read_block(struct reader *in, const struct raw_line *l)
{
    struct suspects_data *d = in->d;
    const struct rec_cell *c = recorded_find(in->r, json_text_of(l->json, "cell"));
    int64_t block = json_integer_value(json_object_get(l->json, "block"));
    /* Older recordings have links that stood out once more, alone. */
    if (!in->counts || !c || c->group != 0 || param(c, "alone") >= 0)
        return;
    if (block != in->block)
        begin_visit(in, block);
    int64_t round = param(c, "round");
    const json_t *each = json_object_get(l->json, "each");
    for (size_t t = 0; t < SUSPECTS_TESTS; t++) {
        const struct suspects_test *test = &suspects_tests[t];
        const json_t *values = json_object_get(each, test->metric);
        if (test->pair && round >= 1)
            take_pairs(d, t, values, (int)round);
        else if (!test->pair && round == 0)
            take_ranks(d, t, values);
    }
}

/* ---- failures ---- */

/* A rank that hangs or fails in a round does so with its partner, or by itself in round 0. */
static void read_fail(struct reader *in, const json_t *o)
{
    struct suspects_data *d = in->d;
    const struct rec_cell *c = recorded_find(in->r, json_text_of(o, "cell"));
    int rank = (int)json_integer_value(json_object_get(o, "rank"));
    int round = c ? (int)param(c, "round") : 0;
    int partner = round > 0 ? collective_round_peer(rank, round - 1, (int)d->ranks) : -1;
    AUTO_FREE char *where = rank < 0      ? xstrdup("no rank reported")
                            : partner < 0 ? xstrfmt("rank %d", rank)
                                          : xstrfmt("rank %d with rank %d", rank, partner);
    AUTO_FREE char *text =
        xstrfmt("%s (host %s): %s in %s: %s", where, json_text_of(o, "host"),
                json_text_of(o, "kind"), json_text_of(o, "phase"), json_text_of(o, "why"));
    words_add_once(&d->failed, text);
}

/* ---- recordings ---- */

static int read_file(struct reader *in, const char *path)
{
    const unsigned want = 1u << RAW_HEADER | 1u << RAW_BLOCK | 1u << RAW_HEALTH | 1u << RAW_FAIL;
    AUTO(raw_close_of) struct raw *raw = NULL;
    struct raw_line l;
    int got;
    CHECK(raw_open_trusted(&raw, path));
    in->block = 0;
    while ((got = raw_next(raw, want, &l)) == 1) {
        if (l.type == RAW_HEADER)
            read_hosts(in->d->rank, in->d->ranks, json_object_get(l.json, "hosts"));
        else if (l.type == RAW_BLOCK)
            read_block(in, &l);
        else if (l.type == RAW_HEALTH)
            read_health(in->d->rank, in->d->ranks, l.json);
        else
            read_fail(in, l.json);
    }
    return got < 0 ? GS_FAILED : GS_OK;
}

static int read_run(struct suspects_data *d, const struct recorded *r)
{
    struct reader in = {.d = d, .r = r};
    in.first_launch = d->visits ? d->launch[d->visits - 1] : 0;
    for (size_t i = 0; i < r->ledger->n_files; i++) {
        const struct ledger_file *file = &r->ledger->files[i];
        bool closed;
        const struct rec_span *span = recorded_span(r, 0, file->launch, &closed);
        in.launch = file->launch;
        in.counts = span && span->file == i;
        CHECK(read_file(&in, file->path));
    }
    return GS_OK;
}

/* All but the patience and the place of the cell in the tournament. */
static char *params_of(const struct recorded *r)
{
    const char *params = r->cells[0].params, *rest = strstr(params, " patience=");
    return xstrfmt("%.*s", (int)(rest ? (size_t)(rest - params) : strlen(params)), params);
}

int suspects_data_alike(const struct suspects_data *d, const char *params, const char *dir)
{
    if (!strcmp(d->params, params))
        return GS_OK;
    return fail(GS_USAGE, "%s: measured %s, not %s: compare recordings with the same --set", dir,
                params, d->params);
}

static void begin_data(struct suspects_data *d, const struct recorded *r)
{
    d->params = params_of(r);
    d->platform = xstrdup(r->platform);
    d->run_id = xstrdup(r->run_id);
    d->ranks = (size_t)r->ranks;
    d->rank = xcalloc(d->ranks, sizeof *d->rank);
    d->silent = xcalloc(d->ranks * d->ranks, sizeof *d->silent);
}

int suspects_data_add(struct suspects_data *d, const char *dir)
{
    AUTO(recorded_free_of) struct recorded *r = NULL;
    CHECK(recorded_read(&r, dir));
    if (!r || strcmp(r->workload, "pairs") != 0 || !r->n_groups)
        return fail(GS_USAGE, "%s: not a recording of gradsync suspects (plugin pairs)", dir);
    if (r->ranks < 1 || r->ranks > RANKS_MAX)
        return fail(GS_USAGE, "%s: has %lld ranks; must be 1 to %d", dir, (long long)r->ranks,
                    RANKS_MAX);
    if (d->rank && (size_t)r->ranks != d->ranks)
        return fail(GS_USAGE, "%s: has %lld ranks, not %zu", dir, (long long)r->ranks, d->ranks);
    if (!d->rank)
        begin_data(d, r);
    AUTO_FREE char *params = params_of(r);
    CHECK(suspects_data_alike(d, params, dir));
    return read_run(d, r);
}

void suspects_data_free(struct suspects_data *d)
{
    for (size_t i = 0; d->rank && i < d->ranks; i++) {
        free(d->rank[i].host);
        free(d->rank[i].model);
        free(d->rank[i].uuid);
        words_free(&d->rank[i].ways);
        words_free(&d->rank[i].reasons);
    }
    for (size_t t = 0; t < SUSPECTS_TESTS; t++)
        free(d->x[t]);
    words_free(&d->failed);
    free(d->silent);
    free(d->launch);
    free(d->rank);
    free(d->params);
    free(d->platform);
    free(d->run_id);
    *d = (struct suspects_data){0};
}

/* ---- rows ---- */

static double median_of(const double *x, size_t n, size_t step, double *scratch)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i * step]))
            scratch[k++] = x[i * step];
    return stats_quantile_of(scratch, k, 0.5);
}

size_t suspects_rows(const struct suspects_data *d, size_t test, bool centred, double **x)
{
    size_t n = suspects_entities(d, test), used = 0, launches = 0, row = 0;
    double *all = xcalloc(d->visits * n + 1, sizeof *all);
    AUTO_FREE double *scratch = xcalloc(n + d->visits + 1, sizeof *scratch);
    AUTO_FREE int *launch = xcalloc(d->visits + 1, sizeof *launch);
    for (size_t v = 0; v < d->visits; v++) {
        const double *from = d->x[test] + v * n;
        double centre = median_of(from, n, 1, scratch);
        if (!isfinite(centre)) /* the test did not run in this visit */
            continue;
        for (size_t i = 0; i < n; i++)
            all[used * n + i] = from[i] - (centred ? centre : 0);
        launches += used == 0 || launch[used - 1] != d->launch[v];
        launch[used++] = d->launch[v];
    }
    *x = all;
    if (launches < 2)
        return used;
    *x = xcalloc(launches * n, sizeof **x);
    for (size_t v = 0, end; v < used; v = end, row++) {
        for (end = v; end < used && launch[end] == launch[v]; end++)
            ;
        for (size_t i = 0; i < n; i++)
            (*x)[row * n + i] = median_of(all + v * n + i, end - v, n, scratch);
    }
    free(all);
    return row;
}
