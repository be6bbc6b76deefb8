/* SPDX-License-Identifier: Apache-2.0
 *
 * The links of a lab from the text of a config, without devices: packets go in at a time and come
 * out at a time.
 */
#pragma once

#include "config/config.h"
#include "lab/mesh.h"
#include "unit.h"

#include <math.h>
#include <string.h>

#define MS 1e6 /* ns */

struct fixture {
    struct config *config;
    struct lab_spec spec;
    struct lab_mesh mesh;
};

static inline void begin(struct fixture *f, const char *text)
{
    *f = (struct fixture){0};
    assert_int_equal(config_from_text(&f->config, "lab.ini", text, strlen(text), NULL), GS_OK);
    assert_int_equal(lab_spec_read(&f->spec, f->config), GS_OK);
    assert_int_equal(lab_mesh_make(&f->mesh, &f->spec), GS_OK);
}

static inline void end(struct fixture *f)
{
    lab_mesh_free(&f->mesh);
    lab_spec_free(&f->spec);
    config_free(f->config);
}

static inline void put(struct fixture *f, size_t from, size_t to, unsigned bytes, double now_ns)
{
    struct packet *p = packet_get(&f->mesh.packets, bytes <= PACKET_SMALL_B);
    assert_non_null(p);
    p->bytes = bytes;
    lab_mesh_put(&f->mesh, p, from, to, now_ns);
}

/* When the next packet is ready for a site; NAN: none is, ever. */
static inline double take(struct fixture *f, size_t to)
{
    static const bool nobody[LAB_SITES_MAX];
    struct fifo *out = &f->mesh.ends[to].out;
    for (double t = 0; !out->first && !isinf(t); t = lab_mesh_next(&f->mesh, nobody))
        lab_mesh_move(&f->mesh, t);
    if (!out->first)
        return NAN;
    struct packet *p = fifo_take(out);
    double at_ns = p->when.last_ns;
    packet_put(&f->mesh.packets, p);
    return at_ns;
}

static inline void near(double is, double should)
{
    if (!(fabs(is - should) <= 1))
        fail_msg("%.3f ns is not %.3f", is, should);
}
