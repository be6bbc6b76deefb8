/* SPDX-License-Identifier: Apache-2.0 */
#include "suspects/suspects_config.h"

#include "base/err.h"
#include "common/round_peer.h"
#include "config/config.h"
#include "config/settings.h"
#include "suspects/rank_facts.h"

#include <string.h>

#define ALONE_MOST                                                                                 \
    8 /* suspects that are measured alone, and as many links of each kind beside them */

static void begin(struct text *t, bool cuda)
{
    text_add(t, "[measure]\nlaunches = 3\nblocks = 10\nmax_blocks = 10\nsamples = 1\ndiscard = 0\n"
                "sample_time = 20ms\nwarmup = 100ms\nwarmup_ops = 2\nbudget = 60s\n"
                "retries = 1\n\n");
    text_addf(t, "[pairs]\nbackend = %s\nsize = %s\n", cuda ? "cuda" : "host",
              cuda ? "64MiB" : "4MiB");
}

void suspects_config(struct text *t, size_t ranks, bool cuda)
{
    begin(t, cuda);
    text_addf(t, "round = 0:%d:+1\n", ranks > 1 ? round_count((int)ranks) : 0);
}

/* ---- alone ---- */

struct alone {
    const struct suspects_data *d;
    struct text rounds, ranks;
    size_t n;
};

static void add(struct alone *to, size_t a, size_t b)
{
    int round = 1;
    while (round_peer((int)a, round - 1, (int)to->d->ranks) != (int)b)
        round++;
    text_addf(&to->rounds, "%s%d", to->n ? ", " : "", round);
    text_addf(&to->ranks, "%s%zu", to->n++ ? ", " : "", a);
}

static const char *link_of(const struct suspects_data *d, size_t a, size_t b)
{
    return rank_facts_link(&d->rank[a], &d->rank[b]);
}

static bool is_suspect(const struct verdicts *v, size_t a, size_t b)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->v[i].kind == SUSPECT_LINK && v->v[i].a == a && v->v[i].b == b)
            return true;
    return false;
}

/* Links of this kind that are no suspects. */
static void add_peers(struct alone *to, const struct verdicts *v, const char *kind)
{
    size_t added = 0;
    for (size_t a = 0; a < to->d->ranks; a++)
        for (size_t b = a + 1; b < to->d->ranks && added < ALONE_MOST; b++)
            if (!is_suspect(v, a, b) && !strcmp(link_of(to->d, a, b), kind)) {
                add(to, a, b);
                added++;
            }
}

static bool is_to_run_alone(const struct suspect *s)
{
    return s->kind == SUSPECT_LINK && !s->silent;
}

static void add_all(struct alone *to, const struct verdicts *v)
{
    for (size_t i = 0; i < v->n && to->n < ALONE_MOST; i++)
        if (is_to_run_alone(&v->v[i]))
            add(to, v->v[i].a, v->v[i].b);
    for (size_t i = 0; i < v->n; i++) {
        bool first = is_to_run_alone(&v->v[i]);
        const char *kind = first ? link_of(to->d, v->v[i].a, v->v[i].b) : "";
        for (size_t k = 0; k < i && first; k++)
            first =
                !is_to_run_alone(&v->v[k]) || strcmp(link_of(to->d, v->v[k].a, v->v[k].b), kind);
        if (first)
            add_peers(to, v, kind);
    }
}

bool suspects_config_alone(struct text *t, const struct suspects_data *d, const struct verdicts *v,
                           bool cuda)
{
    struct alone to = {.d = d};
    if (d->ranks > 3)
        add_all(&to, v);
    if (to.n) {
        begin(t, cuda);
        text_addf(t, "zip = round, alone\nround = %s\nalone = %s\n", to.rounds.s, to.ranks.s);
    }
    text_free(&to.rounds);
    text_free(&to.ranks);
    return to.n > 0;
}

/* ---- a user's config ---- */

int suspects_config_launch(struct words *overrides, struct suspects_launch *launch,
                           const char *path)
{
    struct config *c;
    struct settings settings;
    int code = config_load(&c, path, NULL);
    if (code)
        return code;
    code = settings_read(c, &settings);
    for (size_t i = 0; i < c->n && !code; i++) {
        const struct config_entry *e = &c->entries[i];
        bool name = !strcmp(e->section, "platform") && !strcmp(e->key, "name");
        if (!name && (!strcmp(e->section, "platform") || !strcmp(e->section, "launch")))
            words_addf(overrides, "%s:%s=%s", e->section, e->key, e->value);
    }
    words_addf(overrides, "platform:name=%s", settings.platform.name);
    *launch = (struct suspects_launch){(size_t)settings.launch.ranks, settings.platform.device[0]};
    config_free(c);
    return code;
}
