/* SPDX-License-Identifier: Apache-2.0
 *
 * Of the peers that nothing singles out, the nearest, the farthest and the one with the least
 * downlink stand for all: a stream is no faster over a longer way. Found once, in rows squared.
 */
#include "wan/net.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>

/* Places as unit vectors: the farthest is where the product is least, without trigonometry. */
struct spot {
    double x, y, z;
};

static struct spot *spots_of(const struct wan_map *m)
{
    const double degree = acos(-1) / 180;
    struct spot *s = xcalloc(m->n_rows + 1, sizeof *s);
    for (size_t i = 0; i < m->n_rows; i++) {
        double lat = m->sites[i].lat * degree, lon = m->sites[i].lon * degree;
        s[i] = (struct spot){cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat)};
    }
    return s;
}

enum peer { NEAREST, FARTHEST, SLOWEST };

/* single[to] == from + 1: the pair has words of its own. */
static void find_typical(struct wan_map *m, const struct spot *s, const size_t *single, size_t from)
{
    size_t *peer = m->typical[from];
    double near = 0, far = 0;
    peer[NEAREST] = peer[FARTHEST] = peer[SLOWEST] = from;
    for (size_t to = 0; to < m->n_rows; to++) {
        if (to == from || single[to] == from + 1)
            continue;
        double dot = s[from].x * s[to].x + s[from].y * s[to].y + s[from].z * s[to].z;
        bool first = peer[NEAREST] == from;
        if (first || dot > near)
            near = dot, peer[NEAREST] = to;
        if (first || dot < far)
            far = dot, peer[FARTHEST] = to;
        if (first || m->sites[to].down_Bps < m->sites[peer[SLOWEST]].down_Bps)
            peer[SLOWEST] = to;
    }
}

void wan_map_peers(struct wan_map *m)
{
    struct spot *s = spots_of(m);
    size_t *single = xcalloc(m->n_rows + 1, sizeof *single);
    m->typical = xcalloc(m->n_rows + 1, sizeof *m->typical);
    for (size_t from = 0, i = 0; from < m->n_rows; from++) {
        for (; i < m->n_pairs && m->pairs[i].ends.from == from; i++)
            single[m->pairs[i].ends.to] = from + 1;
        find_typical(m, s, single, from);
    }
    free(single);
    free(s);
}
