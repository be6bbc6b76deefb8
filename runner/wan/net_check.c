/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/net_check.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pairs and crossings alike begin with their ends. */
static int compare_ends(const void *a, const void *b)
{
    const struct wan_ends *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to == y->to ? 0 : x->to < y->to ? -1 : 1;
}

static int fill_rates(struct wan_map *m)
{
    int code = GS_OK;
    for (size_t i = 0; i < m->n; i++) {
        struct wan_site *s = &m->sites[i];
        if (s->up_Bps <= 0)
            s->up_Bps = m->common.rate_Bps;
        if (s->down_Bps <= 0)
            s->down_Bps = s->up_Bps;
        if (s->up_Bps <= 0 && m->n > 1)
            code = config_error(s->entry, "no rate; set up=… here or rate=… in [links]");
    }
    return code;
}

/* Nothing is faster than light in fibre along the great circle. GS_USAGE and reported at e, if it
 * is not NULL, when rtt_s is. */
static int check_light(const struct wan_map *m, size_t from, size_t to, double rtt_s,
                       const struct config_entry *e)
{
    double metres = wan_map_distance(m, from, to), least = 2 * metres / WAN_FIBRE_M_PER_S;
    if (!e || rtt_s <= 0 || isnan(metres) || rtt_s >= least)
        return GS_OK;
    return config_error(e,
                        "an RTT of %.3g ms is impossible: %.0f km from %s to %s there and back at "
                        "2/3 of the speed of light take %.3g ms",
                        1e3 * rtt_s, metres / 1e3, m->sites[from].name, m->sites[to].name,
                        1e3 * least);
}

static int check_all_light(const struct wan_map *m, const struct config *c)
{
    const struct config_entry *common = config_find(c, "links", "rtt");
    int code = GS_OK;
    for (size_t i = 0; i < m->n_pairs; i++) {
        const struct wan_pair *p = &m->pairs[i];
        bool twin = p->ends.from > p->ends.to && !strchr(p->entry->key, '>');
        if (!twin && check_light(m, p->ends.from, p->ends.to, p->link.rtt_s, p->entry))
            code = GS_USAGE;
    }
    for (size_t i = 0; i < m->n; i++)
        for (size_t k = 0; k < m->n; k++) {
            size_t at = wan_ends_find(m->pairs, m->n_pairs, sizeof *m->pairs, i, k);
            bool own = at < m->n_pairs && m->pairs[at].ends.from == i && m->pairs[at].ends.to == k;
            if (!own && check_light(m, i, k, m->common.rtt_s, common))
                return GS_USAGE;
        }
    return code;
}

static int check_twins(const struct wan_map *m)
{
    int code = GS_OK;
    for (size_t i = 1; i < m->n_pairs; i++) {
        const struct wan_pair *a = &m->pairs[i - 1], *b = &m->pairs[i];
        if (compare_ends(a, b))
            continue;
        /* Both directions of two links are one fault. */
        bool said = b->ends.from > b->ends.to && !strpbrk(a->entry->key, ">") &&
                    !strpbrk(b->entry->key, ">");
        code = said ? code
                    : config_error(b->entry,
                                   "duplicate: '%s' sets the same direction; delete one of them",
                                   a->entry->key);
    }
    return code;
}

int wan_map_check(struct wan_map *m, const struct config *c)
{
    if (m->n_pairs)
        qsort(m->pairs, m->n_pairs, sizeof *m->pairs, compare_ends);
    if (m->n_crossings)
        qsort(m->crossings, m->n_crossings, sizeof *m->crossings, compare_ends);
    int twins = check_twins(m);
    int rates = fill_rates(m);
    int light = check_all_light(m, c);
    return light || twins || rates ? GS_USAGE : GS_OK;
}
