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
            bool slowed = false;
            for (size_t k = 0; k < json_array_size(reasons); k++) {
                const char *reason = json_string_value(json_array_get(reasons, k));
                slowed = slowed || (reason && host_load_slows(reason));
            }
            *readings += json_is_array(reasons);
            *throttled += slowed;
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
        const char *name = json_text_of(one, "host");
        size_t i = 0;
        while (i < h->n && strcmp(h->v[i].name, name) != 0)
            i++;
        if (i == h->n)
            APPEND(h->v, h->n) = (struct host){
                .name = xstrdup(name), .cores = json_number_value(json_object_get(one, "cores"))};
        h->of_rank[rank] = i;
        h->v[i].ranks++;
    }
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
        struct host *host = rank < h->ranks ? &h->v[h->of_rank[rank]] : NULL;
        const json_t *load = json_object_get(now, "load1"),
                     *busy = json_object_get(now, "busy_cores"),
                     *own = json_object_get(now, "own_cores");
        if (!host)
            continue;
        host->load += json_number_value(load);
        host->readings += load != NULL;
        host->busy = busy ? json_number_value(busy) : host->busy;
        host->own += json_number_value(own);
        host->owns += own != NULL;
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

void host_load_disturbed(struct disturbed_launches *d, struct host_load *h)
{
    end_recording(h);
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
    for (size_t i = 0; i < h->n; i++)
        free(h->v[i].name);
    free(h->v);
    free(h->of_rank);
    free(h->samples);
    free(h->on_gpus);
    free(h);
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

static bool take_line(void *ctx, const struct raw_line *l)
{
    host_load_line(ctx, l);
    return true;
}

/* "load 6.7 on 2 cores, other programs used 1.4 of them: not idle" for the busiest host, with its
 * name if there are several; NULL: idle, or unknown. */
static char *text_of(const char *run)
{
    struct host_load *h = host_load_new();
    struct disturbed_launches out = {0};
    struct text t = {0};
    char ignored[1]; /* damage: the code that reads the samples reports it */
    double most = 0;
    err_capture(ignored, sizeof ignored);
    raw_each(run, 1u << RAW_HEADER | 1u << RAW_HEALTH, take_line, h);
    err_capture(NULL, 0);
    host_load_disturbed(&out, h);
    if (2 * out.n >= h->n_on_gpus)
        host_load_free(&out);
    for (size_t i = 0; i < h->n && h->judged; i++) {
        const struct host *host = &h->v[i];
        double others = mean_others(h, i, &out), over = excess(host, others);
        if (over <= most)
            continue;
        most = over;
        text_clear(&t);
        text_addf(&t, "load %.1f on %.0f cores", host->load / (double)host->readings, host->cores);
        if (h->n > 1)
            text_addf(&t, " of %s", host->name);
        if (!isnan(others))
            text_addf(&t, ", other programs used %.1f of them", others);
        text_add(&t, ": not idle");
    }
    host_load_free(&out);
    host_load_delete(h);
    return t.s;
}

void host_load_warn(const char *const *runs, size_t n)
{
    AUTO_FREE char *first = NULL;
    size_t at = 0, more = 0;
    for (size_t i = 0; i < n; i++) {
        char *text = text_of(runs[i]);
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
