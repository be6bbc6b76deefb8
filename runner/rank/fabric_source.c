/* SPDX-License-Identifier: Apache-2.0
 *
 * Records the fabric of this rank's node. With several nodes it also sets the NCCL variables that
 * fabric.h chooses, except those already in the environment.
 */
#include "base/text.h"
#include "launch/fabric.h"
#include "rank/health.h"

#include <stdlib.h>

struct source {
    struct fabric fabric;
    struct fabric_setting settings[FABRIC_SETTINGS_MAX];
    size_t n;
    bool speaks; /* this rank records for its node */
};

static void tell_nccl(const struct source *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!s->settings[i].kept)
            setenv(s->settings[i].name, s->settings[i].value, 0);
}

static bool fabric_open(void **self, const struct team *team)
{
    struct source *s = xcalloc(1, sizeof *s);
    s->speaks = team->local_rank == 0;
    fabric_read(&s->fabric, "");
    s->n = fabric_choose(&s->fabric, getenv, s->settings);
    if (team->nodes > 1)
        tell_nccl(s);
    *self = s;
    return true;
}

static void fabric_close(void *self)
{
    AUTO_FREE struct source *s = self;
    fabric_free(&s->fabric);
}

static void fabric_describe(void *self, json_t *host)
{
    const struct source *s = self;
    if (s->speaks)
        json_object_set_new(host, "fabric", fabric_json(&s->fabric, s->settings, s->n));
}

const struct health_source health_fabric = {
    .name = "fabric",
    .open = fabric_open,
    .close = fabric_close,
    .describe = fabric_describe,
};
