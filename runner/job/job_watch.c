/* SPDX-License-Identifier: Apache-2.0 */
#include "job/job_watch.h"

#include "base/clock.h"
#include "base/family.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "record/nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVERY_S 2.0
#define SOON_S 0.3 /* at first, until the job is on a GPU */
#define FIRST_S 60.0
#define GPUS_MAX 64
#define ANCESTORS_MAX 64

struct seen {
    json_t *facts;
    struct nvml_process before[NVML_PROGRAMS_MAX];
    size_t n_before;
    size_t kin, fresh, old; /* programs: the most seen at a time */
    json_t *worst;          /* the reading with the lowest clock */
};

struct job_watch {
    struct nvml *nvml; /* NULL: none here */
    struct seen gpu[GPUS_MAX];
    unsigned n;
    double began_s, looked_s;
};

/* ---- GPUs ---- */

static bool descends(pid_t pid)
{
    for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
        pid = family_parent(pid);
        if (pid == getpid())
            return true;
    }
    return false;
}

struct job_watch *job_watch_new(void)
{
    struct job_watch *w = xcalloc(1, sizeof *w);
    w->nvml = nvml_load(NVML_NO_RANK);
    unsigned count = 0;
    if (w->nvml && NVML_ASK(w->nvml->call.count, &count) != 0)
        count = 0;
    for (unsigned i = 0; i < count && i < GPUS_MAX; i++) {
        if (w->nvml->call.by_index(i, &w->nvml->device) != 0)
            break;
        w->nvml->index = (int)i;
        struct seen *s = &w->gpu[w->n++];
        s->facts = nvml_gpu_facts(w->nvml);
        s->n_before = nvml_gpu_programs(w->nvml, s->before);
        s->old = s->n_before;
    }
    w->began_s = w->looked_s = clock_now_s();
    return w;
}

void job_watch_free(struct job_watch *w)
{
    for (unsigned i = 0; i < w->n; i++) {
        json_decref(w->gpu[i].facts);
        json_decref(w->gpu[i].worst);
    }
    if (w->nvml)
        nvml_unload(w->nvml);
    free(w);
}

static bool was_there(const struct seen *s, unsigned pid)
{
    for (size_t i = 0; i < s->n_before; i++)
        if (s->before[i].pid == pid)
            return true;
    return false;
}

static double clock_of(const json_t *reading)
{
    return json_number_value(json_object_get(reading, "sm_Hz"));
}

/* Clocks of a GPU before the job is on it say nothing. */
static void keep_reading(struct job_watch *w, struct seen *s)
{
    json_t *now = nvml_gpu_now(w->nvml);
    if (s->worst && clock_of(s->worst) <= clock_of(now)) {
        json_decref(now);
        return;
    }
    json_decref(s->worst);
    s->worst = now;
}

static void look_at(struct job_watch *w, unsigned i)
{
    struct nvml_process found[NVML_PROGRAMS_MAX];
    struct seen *s = &w->gpu[i];
    size_t kin = 0, fresh = 0, old = 0;
    if (w->nvml->call.by_index(i, &w->nvml->device) != 0)
        return;
    size_t n = nvml_gpu_programs(w->nvml, found);
    for (size_t k = 0; k < n; k++) {
        bool there = was_there(s, found[k].pid), ours = !there && descends((pid_t)found[k].pid);
        kin += ours;
        fresh += !ours && !there;
        old += there;
    }
    s->kin = kin > s->kin ? kin : s->kin;
    s->fresh = fresh > s->fresh ? fresh : s->fresh;
    s->old = old > s->old ? old : s->old;
    if (kin || fresh)
        keep_reading(w, s);
}

static bool any_kin(const struct job_watch *w)
{
    for (unsigned i = 0; i < w->n; i++)
        if (w->gpu[i].kin)
            return true;
    return false;
}

static bool is_used(const struct job_watch *w, const struct seen *s)
{
    return any_kin(w) ? s->kin : s->fresh;
}

void job_watch_look(struct job_watch *w)
{
    double now = clock_now_s();
    bool used = false;
    for (unsigned i = 0; i < w->n && !used; i++)
        used = is_used(w, &w->gpu[i]);
    double every = used || now - w->began_s > FIRST_S ? EVERY_S : SOON_S;
    if (!w->n || now - w->looked_s < every)
        return;
    for (unsigned i = 0; i < w->n; i++)
        look_at(w, i);
    w->looked_s = clock_now_s();
}

/* ---- results ---- */

json_t *job_watch_gpus(const struct job_watch *w)
{
    json_t *all = json_array();
    for (unsigned i = 0; w && i < w->n; i++)
        if (is_used(w, &w->gpu[i]))
            json_array_append(all, w->gpu[i].facts);
    return all;
}

json_t *job_watch_gpu(const struct job_watch *w, const char *uuid)
{
    for (unsigned i = 0; w && i < w->n; i++)
        if (!strcmp(json_text_of(w->gpu[i].facts, "uuid"), uuid))
            return json_incref(w->gpu[i].facts);
    return json_pack("{so}", "uuid", json_text(uuid));
}

json_t *job_watch_health(const struct job_watch *w)
{
    json_t *all = json_object();
    char rank[16];
    int n = 0;
    for (unsigned i = 0; w && i < w->n; i++) {
        const struct seen *s = &w->gpu[i];
        if (!is_used(w, s))
            continue;
        snprintf(rank, sizeof rank, "%d", n++);
        json_t *gpu = s->worst ? json_copy(s->worst) : json_object();
        size_t others = s->old + (any_kin(w) ? s->fresh : 0);
        json_object_set_new(gpu, "others", json_integer((json_int_t)others));
        json_object_set_new(all, rank, json_pack("{so}", "gpu", gpu));
    }
    if (n)
        return all;
    json_decref(all);
    return NULL;
}
