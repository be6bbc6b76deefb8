/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/health.h"
#include "base/jsontext.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>

static const struct health_source *const sources[] = {&health_host, &health_cpu, &health_nvml,
                                                      &health_fabric};

#define N_SOURCES (sizeof sources / sizeof *sources)
_Static_assert(N_SOURCES <= HEALTH_SOURCES_MAX, "struct health has a place for each source");

json_t *health_cores(double used_s, double wall_s)
{
    return json_real(round(used_s / wall_s * 1e3) / 1e3);
}

void health_open(struct health *h, const struct team *team)
{
    *h = (struct health){0};
    for (size_t i = 0; i < N_SOURCES; i++)
        h->open[i] = (!sources[i]->per_node || team->local_rank == 0) &&
                     (!sources[i]->open || sources[i]->open(&h->self[i], team));
}

void health_close(struct health *h)
{
    for (size_t i = 0; i < N_SOURCES; i++)
        if (h->open[i] && sources[i]->close)
            sources[i]->close(h->self[i]);
    *h = (struct health){0};
}

void health_describe(const struct health *h, json_t *host)
{
    for (size_t i = 0; i < N_SOURCES; i++)
        if (h->open[i] && sources[i]->describe)
            sources[i]->describe(h->self[i], host);
}

json_t *health_read(const struct health *h, const struct team *team)
{
    AUTO_JSON json_t *mine = json_object();
    for (size_t i = 0; i < N_SOURCES; i++)
        if (h->open[i] && sources[i]->read)
            sources[i]->read(h->self[i], mine);
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
