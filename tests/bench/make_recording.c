/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a run folder with as many samples as asked for, in the form that the runner writes:
 *   make_recording RUN SAMPLES [PER_BLOCK [CELLS [LAUNCHES]]]
 * The times scatter like measured ones; the same arguments give the same bytes.
 */
#include "base/err.h"
#include "base/text.h"
#include "common/rng.h"
#include "record/manifest.h"
#include "record/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct job {
    const char *dir;
    uint64_t samples, per_block, cells, launches;
    struct rng rng;
    uint64_t *times;
};

enum { ITERS = 16 };

static const char *name_of(char name[17], const char *kind, uint64_t index)
{
    char hex[65];
    struct text t = {0};
    text_addf(&t, "%s %" PRIu64, kind, index);
    sha256_hex(t.s, t.len, hex);
    text_free(&t);
    snprintf(name, 17, "%.16s", hex);
    return name;
}

static int write_header(struct record *out, const struct job *j, int launch)
{
    const char *slash = strrchr(j->dir, '/');
    return record_line(
        out, json_pack("{s:s,s:i,s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:s,s:I,s:i,s:i}", "type",
                       "header", "schema", RECORD_SCHEMA, "gradsync", "0.1.0", "commit", "unknown",
                       "run_id", slash ? slash + 1 : j->dir, "platform", "bench", "workload",
                       "null", "label", "", "launch", launch, "attempt", 1, "started",
                       "2025-01-01T00:00:00Z", "seed", (json_int_t)7, "ranks", 2, "nodes", 1));
}

static int write_cell(struct record *out, uint64_t cell)
{
    char id[17], group[17];
    return record_line(out, json_pack("{s:s,s:s,s:s,s:i,s:s,s:s,s:{s:I},s:I,s:f,s:b,s:i,s:[],s:b}",
                                      "type", "cell", "cell", name_of(id, "cell", cell), "group",
                                      name_of(group, "group", cell), "copy", 0, "config", "default",
                                      "mode", "", "params", "size", (json_int_t)8 << cell % 24,
                                      "size_B", (json_int_t)8 << cell % 24, "busbw_factor", 1.0,
                                      "span", 0, "iters", ITERS, "metrics", "baseline", 1));
}

static int write_block(struct record *out, struct job *j, uint64_t cell, int block, size_t n)
{
    char id[17];
    double base = 2000 * ITERS * (1 + 0.1 * (double)cell);
    for (size_t i = 0; i < n; i++)
        j->times[i] = (uint64_t)(base * exp(0.05 * rng_normal(&j->rng)));
    json_t *head =
        json_pack("{s:s,s:s,s:i,s:i,s:f,s:i,s:i,s:i,s:{}}", "type", "block", "cell",
                  name_of(id, "cell", cell), "copy", 0, "block", block, "at", 1735689600.0 + block,
                  "iters", ITERS, "skew_ns", 120, "spread_ns", 310, "metrics");
    return record_block(out, head, j->times, n);
}

static int write_group(struct record *out, struct job *j, uint64_t cell, uint64_t samples)
{
    char id[17], group[17];
    int code = write_cell(out, cell), block = 0;
    for (uint64_t left = samples; left && !code;) {
        size_t n = (size_t)(left < j->per_block ? left : j->per_block);
        code = write_block(out, j, cell, ++block, n);
        left -= n;
    }
    if (code)
        return code;
    return record_line(out, json_pack("{s:s,s:s,s:i,s:[{s:s,s:i,s:i,s:b,s:f}]}", "type", "group",
                                      "group", name_of(group, "group", cell), "blocks", block,
                                      "cells", "cell", name_of(id, "cell", cell), "copy", 0,
                                      "blocks", block, "converged", 1, "half_width", 0.004));
}

static int write_launch(struct job *j, int launch)
{
    struct record out;
    char *path = record_path(j->dir, launch, 1, "jsonl");
    int code = record_create(&out, path);
    free(path);
    if (code)
        return code;
    code = write_header(&out, j, launch);
    for (uint64_t c = 0; c < j->cells && !code; c++)
        code = write_group(&out, j, c, j->samples / j->cells / j->launches);
    if (!code)
        code = record_line(&out, json_pack("{s:s,s:f,s:s}", "type", "end", "at", 1735690000.0,
                                           "status", "complete"));
    int closed = record_close(&out);
    return code ? code : closed;
}

static uint64_t argument(int argc, char **argv, int i, uint64_t otherwise)
{
    return argc > i ? strtoull(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    struct job j = {
        .dir = argc > 1 ? argv[1] : "",
        .samples = argument(argc, argv, 2, 0),
        .per_block = argument(argc, argv, 3, 100),
        .cells = argument(argc, argv, 4, 1),
        .launches = argument(argc, argv, 5, 1),
    };
    if (!j.samples || !j.per_block || !j.cells || !j.launches)
        return fail(GS_USAGE, "usage: make_recording RUN SAMPLES [PER_BLOCK [CELLS [LAUNCHES]]]");
    if (mkdir(j.dir, 0777))
        return fail(GS_USAGE, "%s: cannot be made", j.dir);
    rng_seed(&j.rng, 1);
    j.times = xmalloc((size_t)j.per_block * sizeof *j.times);
    int code = GS_OK;
    for (uint64_t launch = 1; launch <= j.launches && !code; launch++)
        code = write_launch(&j, (int)launch);
    free(j.times);
    return code ? code : manifest_write(j.dir);
}
