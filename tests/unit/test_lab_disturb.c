/* SPDX-License-Identifier: Apache-2.0
 *
 * What disturbs the links of a lab: bursts of losses, jitter, detours, the traffic of others, and
 * links that are cut or held.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h" /* before cmocka.h, which has a macro of the name fail */

#include "lab_mesh.h"
#include "unit.h"

#define TWO(links)                                                                                 \
    "[sites]\na = up=8Mbit/s\nb = up=8Mbit/s\n[links]\nrtt = 40ms\nmtu = 1000\n" links

/* ---- losses in bursts ---- */

TEST(bursts_are_as_long_as_asked_for)
{
    enum { N = 200000 };
    struct lab_way way = {.loss = 0.02, .burst = 5};
    struct disturb d;
    double lost = 0, bursts = 0;
    bool before = false;
    disturb_init(&d, &way, 1, 0, 1);
    for (int i = 0; i < N; i++) {
        bool now = disturb_loses(&d);
        lost += now;
        bursts += now && !before;
        before = now;
    }
    assert_true(fabs(lost / N - 0.02) < 0.002);
    assert_true(fabs(lost / bursts - 5) < 0.5);
}

/* ---- jitter ---- */

TEST(jitter_stays_in_its_range_and_keeps_the_order)
{
    struct fixture f;
    double before = 0, least = 1e18, most = 0;
    begin(&f, TWO("jitter = 10ms\n"));
    f.mesh.disturbed = true;
    for (int i = 0; i < 2000; i++) {
        put(&f, 0, 1, 100, i * MS);
        double at = take(&f, 1), extra = at - i * MS - 20.1 * MS;
        assert_true(at > before);
        least = fmin(least, extra);
        most = fmax(most, extra);
        before = at;
    }
    assert_true(least >= 0 && least < 1 * MS);
    assert_true(most <= 10 * MS && most > 9 * MS);
    end(&f);
}

TEST(an_undisturbed_lab_has_no_jitter)
{
    struct fixture f;
    begin(&f, TWO("jitter = 10ms\nreorder = 50%\ncross = 7Mbit/s\n"));
    for (int i = 0; i < 100; i++) {
        put(&f, 0, 1, 100, i * MS);
        near(take(&f, 1), i * MS + 20.1 * MS);
    }
    end(&f);
}

/* ---- order ---- */

TEST(detours_are_overtaken)
{
    enum { N = 10000 };
    struct fixture f;
    double before = 0;
    int overtaken = 0;
    begin(&f, TWO("reorder = 5%\n"));
    f.mesh.disturbed = true;
    for (int i = 0; i < N; i++) {
        put(&f, 0, 1, 100, i * MS);
        lab_mesh_move(&f.mesh, i * MS);
    }
    for (int i = 0; i < N; i++) {
        double at = take(&f, 1);
        assert_true(at >= before); /* the lab delivers in the order of time */
        before = at;
    }
    overtaken = (int)f.mesh.counts.detours;
    assert_true(abs(overtaken - N / 20) < N / 100);
    end(&f);
}

TEST(a_detour_is_half_of_the_delay_longer)
{
    struct fixture f;
    int straight = 0, longer = 0;
    begin(&f, TWO("reorder = 50%\n"));
    f.mesh.disturbed = true;
    for (int i = 0; i < 100; i++) {
        put(&f, 0, 1, 100, i * 100 * MS);
        double at = take(&f, 1) - i * 100 * MS;
        straight += fabs(at - 20.1 * MS) <= 1;
        longer += fabs(at - 30.1 * MS) <= 1;
    }
    assert_true(straight > 30 && longer > 30);
    assert_int_equal(straight + longer, 100);
    end(&f);
}

/* ---- the traffic of others ---- */

/* The share of packets that b gets when a sends at its full rate. */
static double share_that_passes(const char *text, double *others_bps)
{
    enum { N = 20000 };
    struct fixture f;
    double came;
    begin(&f, text);
    f.mesh.disturbed = true;
    for (int i = 0; i < N; i++) {
        double at = i * MS + i * 7919 % 1000 * 1e-3 * MS; /* not in step with the line */
        put(&f, 0, 1, 1000, at);
        lab_mesh_move(&f.mesh, at);
    }
    *others_bps = (double)f.mesh.counts.others * 8000 / (N * 1e-3);
    came = N - (double)f.mesh.counts.queue_drops;
    end(&f);
    return came / N;
}

TEST(others_take_their_part_of_a_rate)
{
    double bps, left;
    assert_true(share_that_passes(TWO(""), &bps) > 0.99);
    left = share_that_passes(TWO("cross = 2Mbit/s\n"), &bps);
    assert_true(fabs(bps - 2 * 2e6) < 0.05 * 2e6); /* in each direction */
    assert_true(left > 0.75 && left < 0.92);       /* both lose packets to the full queue */
}

TEST(others_are_delivered_to_nobody)
{
    struct fixture f;
    begin(&f, TWO("cross = 4Mbit/s\n"));
    f.mesh.disturbed = true;
    for (int i = 0; i < 100; i++)
        put(&f, 0, 1, 100, i * MS);
    lab_mesh_move(&f.mesh, 1000 * MS);
    int mine = 0;
    for (const struct packet *p = f.mesh.ends[1].out.first; p; p = p->next)
        mine += !p->others;
    assert_int_equal(mine, 100);
    assert_true(f.mesh.counts.others > 20);
    assert_int_equal(f.mesh.counts.packets, 100);
    end(&f);
}

TEST(others_must_leave_room)
{
    static const char text[] = TWO("cross = 7.5Mbit/s\n");
    struct config *c;
    struct lab_spec s;
    assert_int_equal(config_from_text(&c, "lab.ini", text, strlen(text), NULL), GS_OK);
    assert_int_equal(lab_spec_read(&s, c), GS_USAGE);
    lab_spec_free(&s);
    config_free(c);
}

/* ---- one link of a site ---- */

static const char three[] = "[sites]\na = up=8Mbit/s\nb = up=8Mbit/s\nc = up=8Mbit/s\n"
                            "[links]\nrtt = 20ms\nmtu = 1000\n";

TEST(a_link_that_is_cut_leaves_the_others)
{
    struct fixture f;
    begin(&f, three);
    put(&f, 0, 1, 1000, 0);
    f.mesh.paths[0 * 3 + 1].cut = true;
    assert_true(isnan(take(&f, 1))); /* one that was on its way as well */
    put(&f, 0, 1, 1000, 100 * MS);
    assert_true(isnan(take(&f, 1)));
    put(&f, 1, 0, 1000, 200 * MS); /* the other direction, and another site */
    near(take(&f, 0), 211 * MS);
    put(&f, 0, 2, 1000, 300 * MS);
    near(take(&f, 2), 311 * MS);
    assert_int_equal(f.mesh.counts.cut_drops, 2);
    end(&f);
}

TEST(a_link_that_is_held_delivers_later)
{
    struct fixture f;
    begin(&f, three);
    f.mesh.paths[0 * 3 + 1].held = true;
    put(&f, 0, 1, 1000, 0);
    put(&f, 2, 1, 1000, 5 * MS);
    near(take(&f, 1), 16 * MS);
    assert_true(isnan(take(&f, 1)));
    f.mesh.paths[0 * 3 + 1].held = false;
    assert_true(!isnan(take(&f, 1)));
    end(&f);
}
