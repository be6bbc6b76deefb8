/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON report of nccl-tests (-J), versions 1 to 3. A file has one test: its "config" with the
 * devices, and its "results", rows {size, count, type, redop, root, out_of_place {time, alg_bw,
 * bus_bw, nwrong}, in_place {…}}. With -I, out_of_place_per_iter and in_place_per_iter have the
 * times of all iterations in "times_us"; these are the samples then. A missing number is "nan".
 */
#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "import/import_nccl.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report {
    struct import *imp;
    struct import_lines *in;
    struct imp_test *test;
    const json_t *config;
    int64_t iters;
};

/* ---- what was run ---- */

static int read_devices(struct report *r)
{
    const json_t *devices = json_object_get(r->config, "devices");
    struct imp_test *t = r->test;
    AUTO_WORDS struct words hosts = {0};
    size_t i;
    json_t *d;
    t->hosts = json_array();
    json_array_foreach(devices, i, d)
    {
        if (json_integer_of(d, "group") != json_integer_of(json_array_get(devices, 0), "group"))
            continue; /* another communicator */
        words_add_once(&hosts, json_text_of(d, "hostname"));
        json_array_append_new(t->hosts, json_pack("{sI ss ss ss}", "rank",
                                                  (json_int_t)json_integer_of(d, "rank"), "host",
                                                  json_text_of(d, "hostname"), "device",
                                                  json_text_of(d, "device_info"), "bus",
                                                  json_text_of(d, "device_hex")));
    }
    t->nodes = (int64_t)hosts.n;
    t->ranks = (int64_t)json_array_size(t->hosts);
    /* Up to 2.19 the report names the first device of each process only: the next one has a rank that is
     * higher by the number of those in a process. */
    int64_t a_process =
        json_integer_of(r->config, "nthreads") * json_integer_of(r->config, "ngpus");
    int64_t step = t->ranks < 2 ? a_process
                                : json_integer_of(json_array_get(t->hosts, 1), "rank") -
                                      json_integer_of(json_array_get(t->hosts, 0), "rank");
    if (a_process > 1 && a_process <= 64 && step == a_process) {
        t->ranks *= a_process;
        t->hidden = a_process - 1;
    }
    if (t->ranks > 1 || !t->ranks)
        return GS_OK;
    return import_refuse(r->in, "one rank per communicator: its times are of a copy, not a "
                                "collective; build nccl-tests with MPI=1");
}

static int read_config(struct report *r, const json_t *root)
{
    const char *program = json_string_value(json_array_get(json_object_get(root, "args"), 0));
    const struct nccl_program *c = nccl_program_of(r->in, program ? program : "");
    if (!c)
        return GS_FAILED;
    struct imp_test *t = r->test = import_add_test(r->imp, r->in, c->workload);
    if (!t)
        return GS_FAILED;
    t->line = 1;
    t->factor = c->factor;
    t->collective = c->collective;
    t->graph = json_integer_of(r->config, "graph") > 0;
    t->unverified = json_integer_of(r->config, "validation") == 0;
    snprintf(t->tool, sizeof t->tool, "nccl-tests json %lld",
             (long long)json_integer_of(root, "version"));
    if (json_integer_of(root, "nccl_version") > 0)
        nccl_version(t->nccl, sizeof t->nccl, json_integer_of(root, "nccl_version"));
    snprintf(t->started, sizeof t->started, "%s", json_text_of(root, "start_time"));
    t->settings = json_object();
    size_t i;
    json_t *e;
    json_array_foreach(json_object_get(root, "env"), i, e)
    {
        const char *s = json_is_string(e) ? json_string_value(e) : "", *value = strchr(s, '=');
        if (value && !strncmp(s, "NCCL_", 5))
            import_setting(t->settings, s, (size_t)(value - s), value + 1, strlen(value + 1));
    }
    r->iters = nccl_iters(json_integer_of(r->config, "iterations"),
                          json_integer_of(r->config, "aggregated_iterations"));
    return read_devices(r);
}

/* ---- rows ---- */

/* nccl-tests prints six digits behind the point. */
static struct number number_of(const json_t *v)
{
    if (!json_is_number(v))
        return (struct number){.value = NAN};
    double x = json_number_value(v);
    return (struct number){.finite = true, .negative = x < 0, .value = x, .last = -6};
}

static int take_row(struct report *r, const json_t *o)
{
    static const char *const sides[][2] = {{"out_of_place", "out_of_place_per_iter"},
                                           {"in_place", "in_place_per_iter"}};
    struct nccl_row row = {.size_B = json_integer_of(o, "size"),
                           .count = json_integer_of(o, "count")};
    const char *type = json_text_of(o, "type"), *op = json_text_of(o, "redop");
    if (!json_is_integer(json_object_get(o, "size")) || row.size_B < 0 || row.count < 0)
        return import_refuse(r->in, "a row without its size");
    if (!text_plain(type, strlen(type)) || !text_plain(op, strlen(op)))
        return import_refuse(r->in, "a row whose type and operation are not names");
    snprintf(row.type, sizeof row.type, "%s", type);
    snprintf(row.op, sizeof row.op, "%s", op);
    row.root = atoi(json_text_of(o, "root"));
    row.root = row.root < 0 ? -1 : row.root;
    for (int i = 0; i < 2; i++) {
        const json_t *side = json_object_get(o, sides[i][0]);
        const json_t *wrong = json_object_get(side, "nwrong");
        const json_t *each = json_object_get(json_object_get(o, sides[i][1]), "times_us");
        if (json_object_get(side, "cpu_time"))
            return nccl_refuse_cpu_time(r->in);
        row.side[i] = (struct nccl_side){.there = json_is_object(side),
                                         .time_us = number_of(json_object_get(side, "time")),
                                         .algbw = number_of(json_object_get(side, "alg_bw")),
                                         .busbw = number_of(json_object_get(side, "bus_bw")),
                                         .time = {"not a number", 12},
                                         .checked = json_is_number(wrong),
                                         .wrong = number_of(wrong),
                                         .each_us = json_array_size(each) ? each : NULL};
    }
    return nccl_take_row(r->imp, r->in, r->test, r->test->ranks, r->iters, &row);
}

static int read_report(struct import *imp, struct import_lines *in)
{
    struct report r = {.imp = imp, .in = in};
    json_error_t why;
    size_t i;
    json_t *row;
    AUTO_JSON json_t *root = json_loadb(in->text.s, in->text.len, JSON_REJECT_DUPLICATES, &why);
    if (!root) {
        in->number = (size_t)why.line;
        return json_error_code(&why) == json_error_premature_end_of_input
                   ? import_refuse(in, "the report breaks off; import what the program printed")
                   : import_refuse(in, "not JSON: %s", why.text);
    }
    text_free(&in->text); /* the tree has it all, in several times the memory */
    const json_t *results = json_object_get(root, "results");
    r.config = json_object_get(root, "config");
    if (!json_is_object(r.config) || !json_is_array(results))
        return import_refuse(in, "JSON, but not of nccl-tests: it needs 'config' and 'results'");
    CHECK(read_config(&r, root));
    json_array_foreach(results, i, row) CHECK(take_row(&r, row));
    if (!json_object_get(root, "end_time"))
        snprintf(r.test->missing, sizeof r.test->missing, "the report has no end");
    return GS_OK;
}

static const char *anchor(const char *line)
{
    const char *s = line + strspn(line, " \t");
    return *s == '{' ? s : NULL;
}

const struct import_format import_nccl_json = {"nccl-json", anchor, false, read_report};
