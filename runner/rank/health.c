/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/health.h"

#include "base/clock.h"
#include "base/family.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "launch/launcher.h"
#include "record/nvml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- the host ---- */

/* Means since the launch began are recorded after this time, because the kernel counts busy time in
 * ticks of 10 ms. */
#define HEALTH_MEAN_S 1.0

static json_t *health_cores(double used_s, double wall_s)
{
    return json_real(round(used_s / wall_s * 1e3) / 1e3);
}

/* Seconds of processor time that programs used since boot, system calls included, interrupts not. */
static double busy_s(void)
{
    double user = 0, nice = 0, system = 0;
    AUTO_FCLOSE FILE *f = fopen("/proc/stat", "r");
    int got = f ? fscanf(f, "cpu %lf %lf %lf", &user, &nice, &system) : 0;
    return got == 3 ? (user + nice + system) / (double)sysconf(_SC_CLK_TCK) : 0;
}

/* ---- the GPU ---- */

/* Ranks of this launch have the same parent. A GPU has one rank: where process ids are those of
 * another namespace, one of them is it. */
static size_t others(const struct nvml *n)
{
    struct nvml_process found[NVML_PROGRAMS_MAX];
    size_t all = nvml_gpu_programs(n, found), ours = 0;
    for (size_t i = 0; i < all; i++)
        ours += family_parent((pid_t)found[i].pid) == getppid();
    return all - (ours || !all ? ours : 1);
}

/* ---- [launch] bind = gpu ---- */

json_t *bind_to_gpu(const struct plan *p, int local_rank)
{
    char gpu[24] = ""; /* "0000:41:00.0" */
    struct nvml_pci pci = {0};
    if (!launcher_binds_to_gpus(p))
        return NULL;
    struct nvml *v = nvml_load(local_rank);
    if (v && v->call.pci && v->call.pci(v->device, &pci) == 0)
        snprintf(gpu, sizeof gpu, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
    if (v)
        nvml_unload(v);
    json_t *bound = json_pack("{ss}", "gpu", gpu);
    AUTO_FREE char *device = xstrfmt("/sys/bus/pci/devices/%s", gpu);
    if (*gpu)
        numa_bind(bound, device);
    else
        json_object_set_new(bound, "why", json_string("no GPU was found for this rank"));
    return bound;
}

/* ---- all of it ---- */

static double used_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void health_open(struct health *h, const struct team *team)
{
    *h = (struct health){.speaks = team->local_rank == 0,
                         .wall_s = clock_now_s(),
                         .busy_s = busy_s(),
                         .used_s = used_s(),
                         .nvml = nvml_load(team->local_rank),
                         .fabric = fabric_json("")};
    const json_t *settings = json_object_get(h->fabric, "settings");
    for (size_t i = 0; i < json_array_size(settings) && team->nodes > 1; i++) {
        const json_t *s = json_array_get(settings, i);
        setenv(json_text_of(s, "name"), json_text_of(s, "value"), 0);
    }
}

void health_close(struct health *h)
{
    if (h->nvml)
        nvml_unload(h->nvml);
    json_decref(h->fabric);
    *h = (struct health){0};
}

json_t *health_read(const struct health *h, const struct team *team)
{
    AUTO_JSON json_t *mine = json_object();
    double since_s = clock_now_s() - h->wall_s, load;
    AUTO_FCLOSE FILE *f = h->speaks ? fopen("/proc/loadavg", "r") : NULL;
    if (f && fscanf(f, "%lf", &load) == 1)
        json_object_set_new(mine, "load1", json_real(load));
    if (h->speaks && since_s >= HEALTH_MEAN_S && h->busy_s > 0)
        json_object_set_new(mine, "busy_cores", health_cores(busy_s() - h->busy_s, since_s));
    if (since_s >= HEALTH_MEAN_S)
        json_object_set_new(mine, "own_cores", health_cores(used_s() - h->used_s, since_s));
    if (h->nvml) {
        json_t *gpu = nvml_gpu_now(h->nvml);
        json_object_set_new(gpu, "others", json_integer((json_int_t)others(h->nvml)));
        json_object_set_new(mine, "gpu", gpu);
    }
    AUTO_FREE char *text = json_object_size(mine) ? json_dumps(mine, JSON_COMPACT) : NULL;
    char **texts = team_texts(team, text ? text : "");
    if (!texts)
        return NULL;
    json_t *all = json_object();
    for (int r = 0; r < team->ranks; r++) {
        char rank[16];
        snprintf(rank, sizeof rank, "%d", r);
        if (*texts[r])
            json_object_set_new(all, rank, json_loads(texts[r], 0, NULL));
    }
    team_texts_free(team, texts);
    return all;
}
