/* SPDX-License-Identifier: Apache-2.0 */
#include "record/host_load.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "record/raw.h"
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

#define IDLE_CORES 0.5
#define IDLE_SHARE 0.02
#define OWN_LOAD                                                                                   \
    2.0 /* threads of a rank that may run at a time, where nothing says how many do                \
         */

struct host {
    char *name;
    double cores, load; /* load: summed over readings */
    double others;      /* cores, summed over launches that tell */
    double busy, own;   /* of the latest reading; < 0: not told */
    int ranks, owns;    /* of a launch; that told their own_cores */
    size_t readings, launches;
};

struct hosts {
    struct host *v;
    size_t n;
    size_t *of_rank;
    size_t ranks;
    bool judged;
};

/* ---- a recording ---- */

static size_t find_host(struct hosts *h, const char *name, double cores)
{
    for (size_t i = 0; i < h->n; i++)
        if (!strcmp(h->v[i].name, name))
            return i;
    ALLOC_MORE(h->v, h->n);
    h->v[h->n] = (struct host){.name = xstrdup(name), .cores = cores};
    return h->n++;
}

static void read_header(struct hosts *h, const json_t *header)
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

static void read_health(struct hosts *h, const json_t *after)
{
    const char *key;
    json_t *now;
    for (size_t i = 0; i < h->n; i++) {
        h->v[i].busy = -1;
        h->v[i].own = h->v[i].owns = 0;
    }
    json_object_foreach((json_t *)after, key, now)
    {
        size_t rank = strtoul(key, NULL, 10);
        if (rank < h->ranks)
            read_rank(&h->v[h->of_rank[rank]], now);
    }
}

/* The last reading covers the whole launch. */
static void end_launch(struct hosts *h)
{
    for (size_t i = 0; i < h->n; i++) {
        struct host *host = &h->v[i];
        if (host->busy < 0 || !host->ranks || host->owns != host->ranks)
            continue;
        host->others += host->busy > host->own ? host->busy - host->own : 0;
        host->launches++;
    }
}

static void read_recording(struct hosts *h, const char *path)
{
    struct raw *raw = NULL;
    struct raw_line l;
    bool read = false;
    if (raw_open(&raw, path))
        return;
    while (raw_next(raw, 1u << RAW_HEADER | 1u << RAW_HEALTH, &l) == 1) {
        if (l.type == RAW_HEADER)
            read_header(h, l.json);
        else
            read_health(h, json_object_get(l.json, "after"));
        read = l.type == RAW_HEALTH;
    }
    raw_close(raw);
    if (read)
        end_launch(h);
}

/* ---- a run ---- */

/* Ignores damage: the code that reads the samples reports it. */
static void read_run(struct hosts *h, const char *run)
{
    char ignored[1];
    AUTO_WORDS struct words paths = {0};
    record_list(run, &paths);
    err_capture(ignored, sizeof ignored);
    for (size_t i = 0; i < paths.n; i++)
        read_recording(h, paths.v[i]);
    err_capture(NULL, 0);
}

/* How far the use is above the limit for an idle machine; 0: idle. */
static double excess(const struct host *h)
{
    double load = h->readings ? h->load / (double)h->readings : 0;
    double most = h->cores * IDLE_SHARE > IDLE_CORES ? h->cores * IDLE_SHARE : IDLE_CORES;
    double over = h->launches
                      ? h->others / (double)h->launches - most
                      : load - (h->cores > OWN_LOAD * h->ranks ? h->cores : OWN_LOAD * h->ranks);
    return h->readings && h->cores > 0 && over > 0 ? over : 0;
}

static char *text_of(const struct hosts *h, const struct host *worst)
{
    struct text t = {0};
    text_addf(&t, "load %.1f on %.0f cores", worst->load / (double)worst->readings, worst->cores);
    if (h->n > 1)
        text_addf(&t, " of %s", worst->name);
    if (worst->launches)
        text_addf(&t, ", other programs used %.1f of them",
                  worst->others / (double)worst->launches);
    text_add(&t, ": not idle");
    return t.s;
}

char *host_load_text(const char *run)
{
    struct hosts h = {0};
    const struct host *worst = NULL;
    read_run(&h, run);
    for (size_t i = 0; i < h.n && h.judged; i++)
        if (excess(&h.v[i]) > (worst ? excess(worst) : 0))
            worst = &h.v[i];
    char *text = worst ? text_of(&h, worst) : NULL;
    for (size_t i = 0; i < h.n; i++)
        free(h.v[i].name);
    free(h.v);
    free(h.of_rank);
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
