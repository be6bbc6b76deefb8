/* SPDX-License-Identifier: Apache-2.0
 *
 * nccl-tests' own JSON report (-J), of its versions 1 to 3: one test a file, its "config" with the
 * devices, and "results": a row {size, count, type, redop, root, out_of_place {time, alg_bw,
 * bus_bw, nwrong}, in_place {…}}. With -I, out_of_place_per_iter and in_place_per_iter hold every
 * iteration's time in "times_us": those are the samples then. Numbers that are none are "nan".
 */
#include "base/err.h"
#include "base/text.h"
#include "import/import_collective.h"
#include "import/import_outline.h"
#include "import/import_plain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report {
    struct import *imp;
    struct lines *in;
    struct imp_test *test;
    const json_t *config;
    int64_t iters;
    struct plain times[2]; /* of the row's iterations, out of place and in place */
};

static bool claims(const char *line)
{
    const char *s = line + strspn(line, " \t");
    return *s == '{';
}

static int64_t integer(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static const char *string(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

/* ---- what was run ---- */

static int read_devices(struct report *r)
{
    const json_t *devices = json_object_get(r->config, "devices");
    struct imp_test *t = r->test;
    struct text hosts = {0};
    size_t i;
    json_t *d;
    t->hosts = json_array();
    text_add(&hosts, "\n");
    json_array_foreach(devices, i, d)
    {
        if (integer(d, "group") != integer(json_array_get(devices, 0), "group"))
            continue; /* another communicator */
        char *host = xstrfmt("\n%s\n", string(d, "hostname"));
        if (!strstr(hosts.s, host)) {
            text_add(&hosts, host + 1);
            t->nodes++;
        }
        free(host);
        json_array_append_new(t->hosts,
                              json_pack("{sI ss ss ss}", "rank", (json_int_t)integer(d, "rank"),
                                        "host", string(d, "hostname"), "device",
                                        string(d, "device_info"), "bus", string(d, "device_hex")));
    }
    text_free(&hosts);
    t->ranks = (int64_t)json_array_size(t->hosts);
    /* Up to 2.19 the report names the first device of each process only. */
    int64_t a_process = integer(r->config, "nthreads") * integer(r->config, "ngpus");
    if (a_process > 0 && a_process <= 64)
        t->ranks *= a_process;
    if (t->ranks > 1 || !t->ranks)
        return GS_OK;
    return import_refuse(r->in, "one rank a communicator: its times are of a copy, not of a "
                                "collective");
}

static void read_env(struct imp_test *t, const json_t *env)
{
    size_t i;
    json_t *e;
    json_array_foreach(env, i, e)
    {
        const char *s = json_string_value(e);
        if (s && !strncmp(s, "NCCL_ALGO=", 10))
            snprintf(t->algorithm, sizeof t->algorithm, "%s", s + 10);
        if (s && !strncmp(s, "NCCL_PROTO=", 11))
            snprintf(t->protocol, sizeof t->protocol, "%s", s + 11);
    }
}

static int read_config(struct report *r, const json_t *root)
{
    const char *program = json_string_value(json_array_get(json_object_get(root, "args"), 0));
    const struct collective *c = program ? collective_of(program) : NULL;
    if (!c)
        return import_refuse(r->in, "no collective is known by '%.60s'",
                             program ? program : "nothing");
    struct imp_test *t = r->test = import_add_test(r->imp, r->in, c->workload);
    if (!t)
        return GS_FAILED;
    t->line = 1;
    t->factor = c->factor;
    t->graph = integer(r->config, "graph") > 0;
    t->unverified = integer(r->config, "validation") == 0;
    int64_t iters = integer(r->config, "iterations");
    int64_t each = integer(r->config, "aggregated_iterations");
    bool sane = iters > 0 && iters < 1000000 && each > 0 && each < 1000;
    r->iters = sane ? iters * each : 1;
    return read_devices(r);
}

/* What may stand behind the results, as it does where keys are sorted. */
static void read_facts(struct report *r, const json_t *root)
{
    struct imp_test *t = r->test;
    snprintf(t->tool, sizeof t->tool, "nccl-tests json %lld", (long long)integer(root, "version"));
    if (integer(root, "nccl_version") > 0)
        collective_version(t->nccl, sizeof t->nccl, integer(root, "nccl_version"));
    snprintf(t->started, sizeof t->started, "%s", string(root, "start_time"));
    read_env(t, json_object_get(root, "env"));
}

/* ---- rows ---- */

/* As printed, with six digits behind the point. */
static struct number number_of(const json_t *v)
{
    if (!json_is_number(v))
        return (struct number){.value = NAN};
    double x = json_number_value(v);
    return (struct number){.finite = true, .negative = x < 0, .value = x, .half = 0.5e-6};
}

static bool nanoseconds(const json_t *us, uint64_t *out)
{
    double ns = json_is_number(us) ? json_number_value(us) * 1e3 : NAN;
    if (!(ns > 0 && ns < 1e15))
        return false;
    *out = (uint64_t)llround(ns);
    return true;
}

static int take_mean(struct report *r, struct imp_cell *c, const json_t *mean)
{
    uint64_t ns;
    if (nanoseconds(mean, &ns))
        return import_sample(r->imp, r->in, c, ns);
    import_fault(c, "failed", "its time is not a number of microseconds");
    return GS_OK;
}

/* Those that are plain numbers were taken out of the text before it was parsed. */
static int take_samples(struct report *r, struct imp_cell *c, const struct plain *plain,
                        const json_t *times)
{
    size_t i;
    json_t *v;
    uint64_t ns;
    int code = GS_OK;
    for (i = 0; i < plain->n && !code; i++)
        code = import_sample(r->imp, r->in, c, plain->v[i]);
    json_array_foreach(times, i, v)
    {
        if (code)
            break;
        if (nanoseconds(v, &ns))
            code = import_sample(r->imp, r->in, c, ns);
        else
            import_fault(c, "failed", "the time of its iteration %zu is none", i + 1);
    }
    return code;
}

static const char *const iterations[] = {"out_of_place_per_iter", "in_place_per_iter"};

static int take_side(struct report *r, const json_t *row, int in_place, struct imp_cell *like)
{
    static const char *const keys[] = {"out_of_place", "in_place"};
    const json_t *side = json_object_get(row, keys[in_place]);
    const json_t *times = json_object_get(json_object_get(row, iterations[in_place]), "times_us");
    const struct plain *plain = &r->times[in_place];
    const bool each = plain->n || json_array_size(times);
    if (!json_is_object(side))
        return GS_OK;
    if (json_object_get(side, "cpu_time"))
        return import_refuse(r->in, "its times are the host's to issue an operation (-C), not the "
                                    "operation's");
    const json_t *time = json_object_get(side, "time"), *wrong = json_object_get(side, "nwrong");
    struct claim claim = {like->size_B, number_of(time), number_of(json_object_get(side, "alg_bw")),
                          number_of(json_object_get(side, "bus_bw"))};
    if (claim.time_us.negative)
        return import_refuse(r->in, "a negative time, %g us", claim.time_us.value);
    int code = collective_check(r->in, &claim, r->test->factor, r->test->ranks);
    if (code)
        return code;
    like->in_place = in_place;
    like->iters = each ? 1 : (uint64_t)r->iters;
    struct imp_cell *c = import_cell(r->imp, r->in, r->test, like);
    if (!c)
        return GS_FAILED;
    if (!json_is_number(wrong))
        r->test->unverified = true;
    else if (json_number_value(wrong) != 0)
        import_fault(c, "wrong", "%g wrong values", json_number_value(wrong));
    return each ? take_samples(r, c, plain, times) : take_mean(r, c, time);
}

static int take_row(struct report *r, const json_t *row)
{
    struct imp_cell like = {.size_B = integer(row, "size"), .root = -1};
    int64_t bytes, count = integer(row, "count");
    const char *type = string(row, "type"), *op = string(row, "redop");
    if (!json_is_integer(json_object_get(row, "size")) || like.size_B < 0 || count < 0)
        return import_refuse(r->in, "a row without its size");
    if (!text_plain(type, strlen(type)) || !text_plain(op, strlen(op)))
        return import_refuse(r->in, "a row whose type and operation are no names");
    snprintf(like.dtype, sizeof like.dtype, "%s", collective_dtype(type, &bytes));
    snprintf(like.op, sizeof like.op, "%s", op);
    like.root = atoi(string(row, "root"));
    like.root = like.root < 0 ? -1 : like.root;
    if (r->test->factor == IMP_ALLREDUCE && bytes &&
        (count > INT64_MAX / 8 || count * bytes != like.size_B))
        return import_refuse(r->in, "%lld elements of %.20s are not %lld bytes", (long long)count,
                             type, (long long)like.size_B);
    int code = take_side(r, row, 0, &like);
    return code ? code : take_side(r, row, 1, &like);
}

/* ---- the report ---- */

static int on_head(void *ctx, const json_t *root)
{
    struct report *r = ctx;
    r->config = json_object_get(root, "config");
    if (!json_is_object(r->config))
        return import_refuse(r->in, "JSON, and not of nccl-tests: no config before the results");
    return read_config(r, root);
}

static int on_row(void *ctx, char *s, size_t n)
{
    struct report *r = ctx;
    json_error_t why;
    (void)n;
    for (size_t i = 0; i < 2; i++) {
        plain_take(&r->times[i], s, iterations[i], "times_us", 3);
    }
    json_t *row = json_loads(s, JSON_REJECT_DUPLICATES, &why);
    int code = row ? take_row(r, row) : import_refuse(r->in, "no JSON: %s in a result", why.text);
    json_decref(row);
    return code;
}

static int read_report(struct import *imp, struct lines *in)
{
    struct report r = {.imp = imp, .in = in};
    const struct outline_reader reader = {"results", &r, on_head, on_row};
    json_t *root;
    bool whole;
    int code = outline_read(in, &reader, &root, &whole);
    if (!code && !r.test)
        code = import_refuse(in, "JSON, and not of nccl-tests: no results");
    if (!code)
        read_facts(&r, root);
    if (!code && (!whole || !json_object_get(root, "end_time")))
        snprintf(r.test->missing, sizeof r.test->missing, "the report has no end");
    json_decref(root);
    for (size_t i = 0; i < 2; i++)
        plain_free(&r.times[i]);
    return code;
}

const struct import_format import_nccl_json = {"nccl-json", claims, read_report};
