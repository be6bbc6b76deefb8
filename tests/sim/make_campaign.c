/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a run folder whose truth is known, as the runner would have recorded it:
 *   make_campaign RUN [KEY=VALUE…]
 *     groups=3 configs=4 launches=5 blocks=20 samples=5 effect=0.02 spread=0.003 noise=0.01 seed=1
 *     mpi="Open MPI v4.1.4" other_mpi=   (of the launches after the second)
 *     scale=1   (of every time)   manifest=1   (ends it as a finished run)
 * Of a group, config c0 is the baseline, in it twice; c1 is as fast, c2 faster by `effect`, c3
 * slower by it, further ones as fast. `spread` is the standard deviation of a config's own mean in
 * a launch, `noise` that of an AR(1) of 0.9 over the samples. The same arguments give the same
 * bytes.
 */
#include "../normal.h"
#include "base/err.h"
#include "base/text.h"
#include "common/rng.h"
#include "record/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct job {
    const char *dir;
    double groups, configs, launches, blocks, samples, effect, spread, noise, seed, scale, manifest;
    const char *mpi, *other_mpi;
    struct rng rng;
    double ar; /* the noise as it stands */
    FILE *out;
};

enum { ITERS = 16, MOST_CONFIGS = 64 };

static const struct {
    const char *key;
    size_t offset;
} numbers[] = {
    {"groups", offsetof(struct job, groups)},     {"configs", offsetof(struct job, configs)},
    {"launches", offsetof(struct job, launches)}, {"blocks", offsetof(struct job, blocks)},
    {"samples", offsetof(struct job, samples)},   {"effect", offsetof(struct job, effect)},
    {"spread", offsetof(struct job, spread)},     {"noise", offsetof(struct job, noise)},
    {"seed", offsetof(struct job, seed)},         {"scale", offsetof(struct job, scale)},
    {"manifest", offsetof(struct job, manifest)},
};

static bool set(struct job *j, const char *word)
{
    size_t n = strcspn(word, "=");
    if (!strncmp(word, "mpi=", 4))
        j->mpi = word + 4;
    else if (!strncmp(word, "other_mpi=", 10))
        j->other_mpi = word + 10;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strlen(numbers[i].key) == n && !strncmp(word, numbers[i].key, n) && word[n])
            return sscanf(word + n + 1, "%lf", (double *)((char *)j + numbers[i].offset)) == 1;
    return strstr(word, "mpi=");
}

static int id(int group, int config)
{
    return group * MOST_CONFIGS + config + 1;
}

static void write_header(struct job *j, int launch)
{
    const char *slash = strrchr(j->dir, '/');
    fprintf(j->out,
            "{\"type\":\"header\",\"schema\":1,\"gradsync\":\"0.1.0\",\"commit\":\"c\",\"run_id\":"
            "\"%s\",\"platform\":\"sim\",\"workload\":\"null\",\"label\":\"\",\"launch\":%d,"
            "\"attempt\":1,\"started\":\"2025-01-01T00:00:00Z\",\"seed\":%.0f,\"overrides\":[],"
            "\"ranks\":2,\"nodes\":1,\"mpi\":\"%s\",\"hosts\":[{\"rank\":0,\"host\":\"h\"}]}\n",
            slash ? slash + 1 : j->dir, launch, j->seed,
            launch > 2 && j->other_mpi ? j->other_mpi : j->mpi);
}

static void write_cell(struct job *j, int group, int config, int copy)
{
    fprintf(j->out,
            "{\"type\":\"cell\",\"cell\":\"%016x\",\"group\":\"%016x\",\"copy\":%d,\"config\":"
            "\"c%d\",\"mode\":\"\",\"params\":{\"size\":\"%d\",\"config\":\"c%d\"},\"size_B\":%d,"
            "\"busbw_factor\":1.0,\"span\":false,\"iters\":%d,\"metrics\":[],\"baseline\":%s}\n",
            (unsigned)id(group, config), (unsigned)group + 1, copy, config, 8 << group % 24, config,
            8 << group % 24, ITERS, config ? "false" : "true");
}

static double truth(const struct job *j, int config)
{
    return config == 2 ? log1p(-j->effect) : config == 3 ? log1p(j->effect) : 0;
}

static void write_block(struct job *j, int group, int config, int copy, int block, double own)
{
    double base = 1e6 * (1 + 0.3 * group) * ITERS * j->scale;
    fprintf(j->out,
            "{\"type\":\"block\",\"cell\":\"%016x\",\"copy\":%d,\"block\":%d,\"at\":%d.5,\"iters\":"
            "%d,\"skew_ns\":30,\"spread_ns\":40,\"metrics\":{},\"time_ns\":[",
            (unsigned)id(group, config), copy, block, block, ITERS);
    for (int i = 0; i < (int)j->samples; i++) {
        j->ar = 0.9 * j->ar + j->noise * sqrt(1 - 0.81) * rng_normal(&j->rng);
        fprintf(j->out, "%s%.0f", i ? "," : "", base * exp(own + truth(j, config) + j->ar));
    }
    fputs("]}\n", j->out);
}

static void write_group(struct job *j, int group)
{
    int configs = (int)j->configs;
    double own[MOST_CONFIGS + 1];
    size_t order[MOST_CONFIGS + 1];
    for (int c = 0; c <= configs; c++) { /* the last is the second copy of c0 */
        own[c] = j->spread * rng_normal(&j->rng);
        order[c] = (size_t)c;
        write_cell(j, group, c < configs ? c : 0, c == configs);
    }
    for (int b = 1; b <= (int)j->blocks; b++) {
        rng_shuffle(&j->rng, order, (size_t)configs + 1);
        for (int v = 0; v <= configs; v++) {
            int c = (int)order[v];
            write_block(j, group, c < configs ? c : 0, c == configs, b, own[c]);
        }
    }
    fprintf(j->out, "{\"type\":\"group\",\"group\":\"%016x\",\"blocks\":%.0f,\"cells\":[]}\n",
            (unsigned)group + 1, j->blocks);
}

static int write_launch(struct job *j, int launch)
{
    char *path = xstrfmt("%s/launch-%02d.01.jsonl", j->dir, launch);
    j->out = fopen(path, "w");
    if (!j->out) {
        int code = fail_at(GS_FAILED, path, 0, "cannot be written: %s", strerror(errno));
        free(path);
        return code;
    }
    write_header(j, launch);
    for (int g = 0; g < (int)j->groups; g++)
        write_group(j, g);
    fputs("{\"type\":\"end\",\"at\":1e6,\"status\":\"complete\"}\n", j->out);
    int code = fclose(j->out)
                   ? fail_at(GS_FAILED, path, 0, "cannot be written: %s", strerror(errno))
                   : GS_OK;
    free(path);
    return code;
}

int main(int argc, char **argv)
{
    struct job j = {.dir = argc > 1 ? argv[1] : "",
                    .groups = 3,
                    .configs = 4,
                    .launches = 5,
                    .blocks = 20,
                    .samples = 5,
                    .effect = 0.02,
                    .spread = 0.003,
                    .noise = 0.01,
                    .seed = 1,
                    .scale = 1,
                    .mpi = "Open MPI v4.1.4"};
    bool good = argc > 1;
    for (int i = 2; i < argc; i++)
        good = set(&j, argv[i]) && good;
    if (!good || j.configs < 1 || j.configs > MOST_CONFIGS)
        return fail(GS_USAGE, "usage: make_campaign RUN [KEY=VALUE…]");
    if (mkdir(j.dir, 0777))
        return fail(GS_FAILED, "%s: cannot be made: %s", j.dir, strerror(errno));
    rng_seed(&j.rng, (uint64_t)j.seed);
    int code = GS_OK;
    for (int launch = 1; launch <= (int)j.launches && !code; launch++)
        code = write_launch(&j, launch);
    return code || !j.manifest ? code : manifest_write(j.dir);
}
