/* SPDX-License-Identifier: Apache-2.0 */
#include "record/machine.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "record/raw.h"
#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const machine_facts[MACHINE_FACTS] = {
    [FACT_RUN] = "run_id",    [FACT_PLATFORM] = "platform", [FACT_WORKLOAD] = "workload",
    [FACT_LABEL] = "label",   [FACT_STARTED] = "started",   [FACT_DATE] = "date",
    [FACT_RANKS] = "ranks",   [FACT_NODES] = "nodes",       [FACT_HOST] = "host",
    [FACT_CPU] = "cpu",       [FACT_CORES] = "cores",       [FACT_KERNEL] = "kernel",
    [FACT_GPU] = "gpu",       [FACT_UUID] = "uuid",         [FACT_DRIVER] = "driver",
    [FACT_CUDA] = "cuda",     [FACT_NCCL] = "nccl",         [FACT_CUBLAS] = "cublas",
    [FACT_MPI] = "mpi",       [FACT_GRADSYNC] = "gradsync", [FACT_PLUGIN] = "plugin",
    [FACT_COMMIT] = "commit",
};

/* Where a fact stands: in the header, in each of its hosts, in their GPU, or in a note. */
enum place { IN_HEADER, IN_HOST, IN_GPU, IN_NOTE };
static const struct source {
    enum machine_fact fact;
    enum place place;
    const char *key;
} sources[] = {
    {FACT_RUN, IN_HEADER, "run_id"},
    {FACT_PLATFORM, IN_HEADER, "platform"},
    {FACT_WORKLOAD, IN_HEADER, "workload"},
    {FACT_LABEL, IN_HEADER, "label"},
    {FACT_STARTED, IN_HEADER, "started"},
    {FACT_RANKS, IN_HEADER, "ranks"},
    {FACT_NODES, IN_HEADER, "nodes"},
    {FACT_MPI, IN_HEADER, "mpi"},
    {FACT_GRADSYNC, IN_HEADER, "gradsync"},
    {FACT_PLUGIN, IN_HEADER, "plugin"},
    {FACT_COMMIT, IN_HEADER, "commit"},
    {FACT_HOST, IN_HOST, "host"},
    {FACT_CPU, IN_HOST, "cpu"},
    {FACT_CORES, IN_HOST, "cores"},
    {FACT_KERNEL, IN_HOST, "kernel"},
    {FACT_GPU, IN_GPU, "name"},
    {FACT_UUID, IN_GPU, "uuid"},
    {FACT_DRIVER, IN_GPU, "driver"},
    {FACT_CUDA, IN_GPU, "cuda_driver"},
    {FACT_GPU, IN_NOTE, "gpu"}, /* of `gradsync train` */
    {FACT_UUID, IN_NOTE, "uuid"},
    {FACT_DRIVER, IN_NOTE, "driver"},
    {FACT_CUDA, IN_NOTE, "cuda_driver"},
    {FACT_NCCL, IN_NOTE, "nccl"},
    {FACT_CUDA, IN_NOTE, "cuda_runtime"},
    {FACT_CUBLAS, IN_NOTE, "cublas"},
};
#define SOURCES (COUNT(sources))

/* Another value than those known is added: hosts may be unlike. */
static void tell(struct machine *m, enum machine_fact fact, const json_t *value)
{
    char number[32];
    const char *s = json_string_value(value);
    if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        s = number;
    }
    if (!s || (m->facts[fact] && strstr(m->facts[fact], s)))
        return;
    AUTO_FREE char *known = m->facts[fact];
    m->facts[fact] = known ? xstrfmt("%s, %s", known, s) : xstrdup(s);
}

bool machine_ignores(const char *name)
{
    static const char *const prefixes[] = {
        "NCCL_DEBUG", "NCCL_VERSION", "NCCL_HOME",    "NCCL_ROOT",      "NCCL_INCLUDE",
        "NCCL_LIB",   "NCCL_TESTS",   "NCCL_COMM_ID", "NCCL_TOPO_DUMP", "NCCL_GRAPH_DUMP_",
    };
    for (size_t i = 0; i < COUNT(prefixes); i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

/* A trial loads its own plugin. */
static void tell_header(struct machine *m, const json_t *header)
{
    const json_t *host;
    size_t h;
    for (size_t i = 0; i < SOURCES; i++) {
        const struct source *s = &sources[i];
        if (s->place == IN_HEADER)
            tell(m, s->fact, json_object_get(header, s->key));
        json_array_foreach(json_object_get(header, "hosts"), h, host)
        {
            if (s->place == IN_HOST)
                tell(m, s->fact, json_object_get(host, s->key));
            if (s->place == IN_GPU)
                tell(m, s->fact, json_object_get(json_object_get(host, "gpu"), s->key));
        }
    }
    const char *started = m->facts[FACT_STARTED];
    if (started && !m->facts[FACT_DATE])
        m->facts[FACT_DATE] = xstrfmt("%.10s", started);
}

static void tell_note(struct machine *m, const json_t *note)
{
    for (size_t i = 0; i < SOURCES; i++)
        if (sources[i].place == IN_NOTE && !strcmp(sources[i].key, json_text_of(note, "key")))
            tell(m, sources[i].fact, json_object_get(note, "value"));
}

/* The GPUs of a user's training are known once it runs. */
static bool tells_late(const struct machine *m)
{
    return m->facts[FACT_WORKLOAD] && !strcmp(m->facts[FACT_WORKLOAD], "train");
}

static int read_file(struct machine *m, const char *path)
{
    AUTO(raw_close_of) struct raw *raw = NULL;
    struct raw_line l;
    int got = 0, code = raw_open(&raw, path);
    if (code)
        return code;
    while ((got = raw_next(raw, 1u << RAW_HEADER | 1u << RAW_NOTE | 1u << RAW_CELL, &l)) == 1 &&
           (l.type != RAW_CELL || tells_late(m))) {
        if (l.type == RAW_HEADER)
            tell_header(m, l.json);
        else if (l.type == RAW_NOTE)
            tell_note(m, l.json);
    }
    return got < 0 ? GS_FAILED : GS_OK;
}

int machine_of_run(struct machine *m, const char *dir)
{
    AUTO_WORDS struct words paths = {0};
    int code = GS_OK, before = 0, launch, attempt;
    *m = (struct machine){0};
    if (!record_list(dir, &paths))
        return fail_at(GS_USAGE, dir, 0, "is not a run folder: %s", strerror(errno));
    for (size_t i = 0; i < paths.n && !code; i++) {
        record_parse_name(path_name(paths.v[i]), &launch, &attempt);
        m->launches += launch != before;
        before = launch;
        if (!m->facts[FACT_RUN])
            code = read_file(m, paths.v[i]);
    }
    m->files = m->facts[FACT_RUN] ? (int)paths.n : 0;
    if (code)
        machine_free(m);
    return code;
}

void machine_free(struct machine *m)
{
    for (size_t i = 0; i < MACHINE_FACTS; i++)
        free(m->facts[i]);
    *m = (struct machine){0};
}

/* ---- sets of GPUs ---- */

static int add_sets(struct words *sets, const char *dir)
{
    AUTO_WORDS struct words paths = {0};
    int code = GS_OK;
    if (!record_list(dir, &paths))
        return fail_at(GS_USAGE, dir, 0, "is not a run folder: %s", strerror(errno));
    for (size_t i = 0; i < paths.n && !code; i++) {
        AUTO(machine_free) struct machine m = {0};
        AUTO_WORDS struct words uuids = {0};
        code = read_file(&m, paths.v[i]);
        if (code || !m.facts[FACT_UUID])
            continue;
        words_split(&uuids, m.facts[FACT_UUID], ',');
        words_sort(&uuids);
        AUTO_TEXT struct text set = {0};
        for (size_t k = 0; k < uuids.n; k++)
            text_addf(&set, "%s%s", k ? "," : "", uuids.v[k]);
        words_add_once(sets, set.s);
    }
    return code;
}

char *machine_gpu_sets(const char *const *dirs, size_t n)
{
    AUTO_WORDS struct words sets = {0};
    size_t pairs = 0;
    for (size_t i = 0; i < n; i++)
        if (add_sets(&sets, dirs[i]))
            return NULL;
    for (size_t i = 0; i < sets.n; i++) {
        const char *comma = strchr(sets.v[i], ',');
        pairs += comma && !strchr(comma + 1, ',');
    }
    return sets.n < 2 ? NULL
                      : xstrfmt("%zu %s of GPUs", sets.n, pairs == sets.n ? "pairs" : "sets");
}
