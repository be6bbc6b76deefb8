/* SPDX-License-Identifier: Apache-2.0 */
#include "record/host_load.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "record/raw.h"
#include "record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- GPU clocks ---- */

bool host_load_slows(const char *reason)
{
    static const char *const reasons[] = {"power_cap", "hw_slowdown", "sw_thermal", "hw_thermal",
                                          "power_brake"};
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (!strcmp(reasons[i], reason))
            return true;
    return false;
}

static bool is_throttled(const json_t *reasons)
{
    bool any = false;
    for (size_t i = 0; i < json_array_size(reasons); i++) {
        const char *reason = json_string_value(json_array_get(reasons, i));
        any = any || (reason && host_load_slows(reason));
    }
    return any;
}

/* Of the readings of a block. */
static const char *const times[] = {"before", "after"};

void host_load_throttled(const json_t *health, size_t *readings, size_t *throttled)
{
    const char *rank;
    json_t *reading;
    for (size_t i = 0; i < COUNT(times); i++)
        json_object_foreach(json_object_get(health, times[i]), rank, reading)
        {
            const json_t *reasons = json_object_get(json_object_get(reading, "gpu"), "throttle");
            *readings += json_is_array(reasons);
            *throttled += is_throttled(reasons);
        }
}

/* ---- other programs ---- */

#define IDLE_CORES 0.5
#define IDLE_SHARE 0.02
#define OWN_LOAD 2.0 /* threads of a rank that may run at a time, where nothing tells how many do */

struct host {
    char *name;
    double cores, load; /* load: summed over readings */
    double busy, own;   /* of the latest reading; < 0: not told */
    int ranks, owns;    /* of a launch; that told their own_cores */
    size_t readings;
};

/* What one launch tells of one host. */
struct sample {
    int launch;
    size_t host;
    double others; /* cores that other programs used */
};

struct host_load {
    struct host *v;
    size_t n;
    size_t *of_rank;
    size_t ranks;
    bool judged;
    struct sample *samples;
    size_t n_samples;
    struct on_gpus {
        int launch;
        long programs; /* the most that were not ours */
    } * on_gpus;
    size_t n_on_gpus;
    struct on_gpus now; /* of the recording that is read */
    bool told;          /* it has a line of health */
};

/* ---- a recording ---- */

static size_t find_host(struct host_load *h, const char *name, double cores)
{
    for (size_t i = 0; i < h->n; i++)
        if (!strcmp(h->v[i].name, name))
            return i;
    ALLOC_MORE(h->v, h->n);
    h->v[h->n] = (struct host){.name = xstrdup(name), .cores = cores};
    return h->n++;
}

static void read_header(struct host_load *h, const json_t *header)
{
    json_t *one, *hosts = json_object_get(header, "hosts");
    size_t rank;
    h->ranks = json_array_size(hosts);
    h->of_rank = xrealloc(h->of_rank, (h->ranks + 1) * sizeof *h->of_rank);
    h->judged = h->ranks && !json_object_get(header, "lab");
    for (size_t i = 0; i < h->n; i++)
        h->v[i].ranks = 0;
    json_array_foreach(hosts, rank, one)
    {
        h->of_rank[rank] = find_host(h, json_text_of(one, "host"),
                                     json_number_value(json_object_get(one, "cores")));
        h->v[h->of_rank[rank]].ranks++;
    }
}

static void read_rank(struct host *h, const json_t *now)
{
    const json_t *load = json_object_get(now, "load1"), *busy = json_object_get(now, "busy_cores"),
                 *own = json_object_get(now, "own_cores");
    if (load) {
        h->load += json_number_value(load);
        h->readings++;
    }
    if (busy)
        h->busy = json_number_value(busy);
    h->own += json_number_value(own);
    h->owns += own != NULL;
}

static void read_health(struct host_load *h, const json_t *line)
{
    const char *key;
    json_t *now, *after = json_object_get(line, "after");
    for (size_t i = 0; i < h->n; i++) {
        h->v[i].busy = -1;
        h->v[i].own = h->v[i].owns = 0;
    }
    json_object_foreach(after, key, now)
    {
        size_t rank = strtoul(key, NULL, 10);
        if (rank < h->ranks)
            read_rank(&h->v[h->of_rank[rank]], now);
    }
    for (size_t i = 0; i < COUNT(times); i++)
        json_object_foreach(json_object_get(line, times[i]), key, now)
        {
            json_int_t n = json_integer_of(json_object_get(now, "gpu"), "others");
            h->now.programs = n > h->now.programs ? (long)n : h->now.programs;
        }
}

/* The last reading covers the whole launch. */
static void end_recording(struct host_load *h)
{
    for (size_t i = 0; i < h->n && h->told; i++) {
        struct host *host = &h->v[i];
        if (host->busy < 0 || !host->ranks || host->owns != host->ranks)
            continue;
        double others = host->busy > host->own ? host->busy - host->own : 0;
        APPEND(h->samples, h->n_samples) = (struct sample){h->now.launch, i, others};
    }
    if (h->told)
        APPEND(h->on_gpus, h->n_on_gpus) = h->now;
    h->told = false;
}

struct host_load *host_load_new(void)
{
    return xcalloc(1, sizeof(struct host_load));
}

void host_load_line(struct host_load *h, const struct raw_line *l)
{
    if (l->type == RAW_HEADER) {
        end_recording(h);
        h->now = (struct on_gpus){.launch = l->launch};
        read_header(h, l->json);
    } else if (l->type == RAW_HEALTH) {
        read_health(h, l->json);
        h->told = true;
    }
}

/* ---- a run ---- */

static bool take_line(void *ctx, const struct raw_line *l)
{
    host_load_line(ctx, l);
    return true;
}

/* Ignores damage: the code that reads the samples reports it. */
static struct host_load *read_run(const char *run)
{
    char ignored[1];
    struct host_load *h = host_load_new();
    err_capture(ignored, sizeof ignored);
    raw_each(run, 1u << RAW_HEADER | 1u << RAW_HEALTH, take_line, h);
    err_capture(NULL, 0);
    end_recording(h);
    return h;
}

static double limit_of(const struct host *h)
{
    return h->cores * IDLE_SHARE > IDLE_CORES ? h->cores * IDLE_SHARE : IDLE_CORES;
}

/* "": the launch was not disturbed. The caller frees it. */
static char *why_disturbed(const struct host_load *h, int launch)
{
    struct text t = {0};
    text_add(&t, "");
    for (size_t i = 0; i < h->n_samples && h->judged; i++) {
        const struct sample *s = &h->samples[i];
        const struct host *host = &h->v[s->host];
        if (s->launch != launch || s->others <= limit_of(host) || host->cores <= 0)
            continue;
        text_addf(&t, "%sother programs used %.1f of %.0f cores", t.len ? ", " : "", s->others,
                  host->cores);
        if (h->n > 1)
            text_addf(&t, " of %s", host->name);
    }
    for (size_t i = 0; i < h->n_on_gpus && h->judged; i++) {
        long n = h->on_gpus[i].launch == launch ? h->on_gpus[i].programs : 0;
        if (n > 0)
            text_addf(&t, "%s%ld other program%s on its GPUs", t.len ? ", " : "", n,
                      n == 1 ? "" : "s");
    }
    return t.s;
}

static void find_disturbed(struct disturbed_launches *d, const struct host_load *h)
{
    for (size_t i = 0; i < h->n_on_gpus; i++) {
        int launch = h->on_gpus[i].launch;
        AUTO_FREE char *why = why_disturbed(h, launch);
        bool again = i && h->on_gpus[i - 1].launch == launch; /* another attempt */
        if (*why && !again)
            APPEND(d->v, d->n) = (struct disturbed_launch){launch, xstrdup(why)};
    }
}

void host_load_free(struct disturbed_launches *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->v[i].why);
    free(d->v);
    *d = (struct disturbed_launches){0};
}

void host_load_delete(struct host_load *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->n; i++)
        free(h->v[i].name);
    free(h->v);
    free(h->of_rank);
    free(h->samples);
    free(h->on_gpus);
    free(h);
}

void host_load_disturbed(struct disturbed_launches *d, struct host_load *h)
{
    end_recording(h);
    find_disturbed(d, h);
}

/* The mean over launches of what other programs used; NaN: no launch tells. */
static double mean_others(const struct host_load *h, size_t host,
                          const struct disturbed_launches *out)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < h->n_samples; i++) {
        const struct sample *s = &h->samples[i];
        bool left = false;
        for (size_t k = 0; k < out->n; k++)
            left = left || out->v[k].launch == s->launch;
        if (s->host != host || left)
            continue;
        sum += s->others;
        n++;
    }
    return n ? sum / (double)n : (double)NAN;
}

/* How far the use is above the limit for an idle machine; 0: idle. */
static double excess(const struct host *h, double others)
{
    double load = h->readings ? h->load / (double)h->readings : 0;
    double own = OWN_LOAD * h->ranks;
    double over = isnan(others) ? load - (h->cores > own ? h->cores : own) : others - limit_of(h);
    return h->readings && h->cores > 0 && over > 0 ? over : 0;
}

static char *text_of(const struct host_load *h, const struct host *worst, double others)
{
    struct text t = {0};
    text_addf(&t, "load %.1f on %.0f cores", worst->load / (double)worst->readings, worst->cores);
    if (h->n > 1)
        text_addf(&t, " of %s", worst->name);
    if (!isnan(others))
        text_addf(&t, ", other programs used %.1f of them", others);
    text_add(&t, ": not idle");
    return t.s;
}

char *host_load_text(const char *run)
{
    struct host_load *h = read_run(run);
    struct disturbed_launches out = {0};
    char *text = NULL;
    double most = 0;
    find_disturbed(&out, h);
    if (2 * out.n >= h->n_on_gpus)
        host_load_free(&out);
    for (size_t i = 0; i < h->n && h->judged; i++) {
        double others = mean_others(h, i, &out);
        if (excess(&h->v[i], others) <= most)
            continue;
        most = excess(&h->v[i], others);
        free(text);
        text = text_of(h, &h->v[i], others);
    }
    host_load_free(&out);
    host_load_delete(h);
    return text;
}

void host_load_warn(const char *const *runs, size_t n)
{
    AUTO_FREE char *first = NULL;
    size_t at = 0, more = 0;
    for (size_t i = 0; i < n; i++) {
        char *text = host_load_text(runs[i]);
        more += text && first;
        at = text && !first ? i : at;
        if (first)
            free(text);
        else
            first = text;
    }
    if (first && more)
        say("warning: %s: %s; %zu more of %zu runs had such a load (gradsync show RUN)", runs[at],
            first, more, n);
    else if (first)
        say("warning: %s: %s; measure again while nothing else runs", runs[at], first);
}
