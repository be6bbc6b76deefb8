/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of a lab, as arithmetic: who leaves when, what is dropped, what is lost.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h" /* before cmocka.h, which has a macro of the name fail */

#include <cmocka.h>

#include "config/config.h"
#include "lab/mesh.h"
#include "lab/probe.h"
#include "lab_mesh.h"

/* ---- one line ---- */

static double leaves(struct shaper *s, double now_ns, unsigned bytes)
{
    struct passage p = {.last_ns = now_ns};
    return shaper_pass(s, bytes, &p) ? p.last_ns : NAN;
}

static void paced_to_the_byte(void **state)
{
    struct shaper s = {0};
    (void)state;
    shaper_set(&s, 1e6, 1e9); /* 1000 ns a byte */
    assert_true(leaves(&s, 0, 1000) == 1 * MS);
    assert_true(leaves(&s, 0, 500) == 1.5 * MS);
    /* Looked at late: the line was never idle, and nothing is lost by that. */
    assert_true(leaves(&s, 1.4 * MS, 1500) == 3 * MS);
    /* It was idle: time that has passed is not sent in again. */
    assert_true(leaves(&s, 10 * MS, 1000) == 11 * MS);
}

static void no_rate_is_no_delay(void **state)
{
    struct shaper s = {0};
    (void)state;
    shaper_set(&s, 0, 0);
    for (int i = 0; i < 1000; i++)
        assert_true(leaves(&s, 5, 9000) == 5);
}

static void queue_drops_the_tail(void **state)
{
    struct shaper s = {0};
    int kept = 0;
    (void)state;
    shaper_set(&s, 1e6, 10000);
    for (int i = 0; i < 100; i++)
        kept += !isnan(leaves(&s, 0, 1000));
    assert_int_equal(kept, 10);
    /* Half of it has left: there is room for so much again. */
    for (int i = 0; i < 100; i++)
        kept += !isnan(leaves(&s, 5 * MS, 1000));
    assert_int_equal(kept, 15);
}

/* A queue shorter than a packet would carry nothing. */
static void an_idle_line_takes_any_packet(void **state)
{
    struct shaper s = {0};
    (void)state;
    shaper_set(&s, 1e6, 100);
    assert_true(leaves(&s, 0, 9000) == 9 * MS);
    assert_true(isnan(leaves(&s, 0, 1)));
}

static void behind_an_equal_line_nothing_waits_twice(void **state)
{
    struct shaper up = {0}, down = {0}, slow = {0};
    struct passage p = {.last_ns = 0};
    (void)state;
    shaper_set(&up, 1e6, 1e9);
    shaper_set(&down, 1e6, 1e9);
    shaper_set(&slow, 0.5e6, 1e9);
    assert_true(shaper_pass(&up, 1000, &p) && shaper_pass(&down, 1000, &p));
    assert_true(p.last_ns == 1 * MS);
    assert_true(shaper_pass(&slow, 1000, &p));
    assert_true(p.last_ns == 2 * MS);
}

/* What trickles in from a slow line has not waited on a fast one for all that time. */
static void behind_a_slow_line_nothing_is_dropped(void **state)
{
    struct shaper fast;
    struct passage busy = {.last_ns = 9 * MS}, slow = {.last_ns = 10 * MS, .long_ns = 10 * MS};
    (void)state;
    shaper_set(&fast, 1e6, 2000);
    assert_true(shaper_pass(&fast, 1000, &busy));
    assert_true(shaper_pass(&fast, 1000, &slow));
    assert_true(slow.last_ns == 11 * MS);
}

/* ---- lines between sites ---- */

static const char three[] =
    "[sites]\na = up=8Mbit/s\nb = up=8Mbit/s down=4Mbit/s\nc = up=80Mbit/s\n"
    "[links]\nrtt = 20ms\nmtu = 1000\nb>a = rtt=60ms\n";

static void a_way_is_half_its_rtt(void **state)
{
    struct fixture f;
    (void)state;
    begin(&f, three);
    put(&f, 0, 2, 1000, 0); /* 8 Mbit/s: a byte is 1 us */
    near(take(&f, 2), 11 * MS);
    put(&f, 1, 0, 1000, 100 * MS); /* one direction has its own */
    near(take(&f, 0), 131 * MS);
    put(&f, 0, 1, 1000, 200 * MS); /* b receives at half */
    near(take(&f, 1), 212 * MS);
    end(&f);
}

static void senders_share_a_downlink(void **state)
{
    struct fixture f;
    (void)state;
    begin(&f, three);
    put(&f, 0, 1, 1000, 0);
    put(&f, 2, 1, 1000, 0); /* faster there: first there */
    near(take(&f, 1), 12 * MS);
    near(take(&f, 1), 14 * MS);
    end(&f);
}

static void links_share_a_line(void **state)
{
    static const char text[] = "[sites]\na = up=1Gbit/s\nb = up=1Gbit/s\nc = up=1Gbit/s\n"
                               "[links]\nrtt = 20ms\nshared.sea = rate=8Mbit/s links=a-c,b-c\n";
    struct fixture f;
    (void)state;
    begin(&f, text);
    for (int i = 0; i < 4; i++)
        put(&f, (size_t)i % 2, 2, 1000, 0);
    for (int i = 1; i <= 4; i++)
        near(take(&f, 2), 10 * MS + i * MS);
    put(&f, 0, 1, 1000, 100 * MS); /* not over that line */
    near(take(&f, 1), 110 * MS + 8000);
    end(&f);
}

static void losses_are_those_asked_for(void **state)
{
    static const char text[] = "[sites]\na = up=1Gbit/s\nb = up=1Gbit/s\n"
                               "[links]\nrtt = 1ms\nloss = 2%\nqueue = 1GB\n";
    enum { N = 100000 };
    struct fixture f;
    (void)state;
    begin(&f, text);
    for (int i = 0; i < N; i++) {
        put(&f, 0, 1, 60, i * MS);
        take(&f, 1);
    }
    double sigma = sqrt(N * 0.02 * 0.98);
    assert_true(fabs((double)f.mesh.counts.losses - 0.02 * N) < 5 * sigma);
    assert_int_equal(f.mesh.counts.queue_drops, 0);
    uint64_t first = f.mesh.counts.losses;
    end(&f);
    begin(&f, text); /* the same seed loses the same */
    for (int i = 0; i < N; i++) {
        put(&f, 0, 1, 60, i * MS);
        take(&f, 1);
    }
    assert_int_equal(f.mesh.counts.losses, first);
    end(&f);
}

static void a_site_that_is_cut_gets_nothing(void **state)
{
    struct fixture f;
    (void)state;
    begin(&f, three);
    put(&f, 0, 2, 100, 0);
    f.mesh.ends[2].cut = true;
    assert_true(isnan(take(&f, 2)));
    put(&f, 2, 0, 100, 0);
    assert_true(isnan(take(&f, 0)));
    assert_int_equal(f.mesh.counts.cut_drops, 2);
    end(&f);
}

static void queue_is_a_bandwidth_delay_product(void **state)
{
    struct fixture f;
    (void)state;
    begin(&f, three);
    assert_true(f.spec.sites[0].up_queue_B == 1e6 * 0.04); /* the farthest: 10 + 30 ms */
    assert_true(f.spec.sites[2].up_queue_B == 1e7 * 0.02);
    end(&f);
}

/* What is freed is used again, a small packet in a small slot. */
static void packets_come_back(void **state)
{
    struct packets p;
    (void)state;
    assert_true(packets_make(&p, 9000, 1e5));
    struct packet *big = packet_get(&p, false);
    big->bytes = 100;
    memset(big->data, 7, PACKET_HEAD_B + 100);
    struct packet *small = packet_fit(&p, big);
    assert_true(small->small && small->bytes == 100 && small->data[PACKET_HEAD_B + 99] == 7);
    assert_ptr_equal(packet_get(&p, false), big);
    size_t n = 0;
    while (packet_get(&p, false))
        n++;
    assert_true(n * 9000 > 1e5);
    packets_free(&p);
}

/* ---- the proof ---- */

/* Every end is filled by some measurement, by the ring or by all others. */
static void probes_fill_every_end(void **state)
{
    struct fixture f;
    struct probe_plan plan;
    (void)state;
    begin(&f, three);
    probe_plan_make(&plan, &f.spec, 0);
    for (size_t i = 0; i < f.spec.n; i++) {
        double up = 0, down = 0;
        for (size_t k = 0; k < plan.n; k++) {
            up = fmax(up, probe_plan_up_Bps(&plan.phases[k], &f.spec, i));
            down = fmax(down, probe_plan_down_Bps(&plan.phases[k], &f.spec, i));
        }
        /* c is faster than a and b together. */
        near(up, i == 2 ? 1.5e6 : 1e6);
        near(down, i == 0 ? 1e6 : i == 1 ? 0.5e6 : 2e6);
    }
    probe_plan_free(&plan);
    end(&f);
}

static void judged_by_what_is_furthest_off(void **state)
{
    struct fixture f;
    struct probe_rate up[3], down[3];
    struct probe_pair pairs[9];
    struct probe p = {3, up, down, pairs};
    char why[256];
    (void)state;
    begin(&f, three);
    for (size_t i = 0; i < 3; i++) {
        up[i] = (struct probe_rate){f.spec.sites[i].up_Bps, f.spec.sites[i].up_Bps, 0};
        down[i] = (struct probe_rate){f.spec.sites[i].down_Bps, f.spec.sites[i].down_Bps, 0};
    }
    for (size_t i = 0; i < 9; i++)
        pairs[i] = (struct probe_pair){lab_rtt_s(&f.spec, i / 3, i % 3), 100, 0};
    assert_int_equal(probe_judge(&p, &f.spec, why, sizeof why), GS_OK);
    up[1].Bps *= 0.96;
    assert_int_equal(probe_judge(&p, &f.spec, why, sizeof why), GS_CANNOT);
    assert_string_equal(why, "site b sends 7.68 Mbit/s instead of 8 Mbit/s (allowed error: 3%)");
    up[1].Bps *= 1.08 / 0.96;
    assert_int_equal(probe_judge(&p, &f.spec, why, sizeof why), GS_CANNOT);
    up[1].Bps /= 1.08;
    pairs[1].rtt_s += 0.0035;
    assert_int_equal(probe_judge(&p, &f.spec, why, sizeof why), GS_CANNOT);
    pairs[1].rtt_s = lab_rtt_s(&f.spec, 0, 1);
    pairs[2].lost = 30;
    assert_int_equal(probe_judge(&p, &f.spec, why, sizeof why), GS_CANNOT);
    assert_string_equal(why, "30 of 900 packets were lost instead of about 0");
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paced_to_the_byte),
        cmocka_unit_test(no_rate_is_no_delay),
        cmocka_unit_test(queue_drops_the_tail),
        cmocka_unit_test(an_idle_line_takes_any_packet),
        cmocka_unit_test(behind_an_equal_line_nothing_waits_twice),
        cmocka_unit_test(behind_a_slow_line_nothing_is_dropped),
        cmocka_unit_test(a_way_is_half_its_rtt),
        cmocka_unit_test(senders_share_a_downlink),
        cmocka_unit_test(links_share_a_line),
        cmocka_unit_test(losses_are_those_asked_for),
        cmocka_unit_test(a_site_that_is_cut_gets_nothing),
        cmocka_unit_test(queue_is_a_bandwidth_delay_product),
        cmocka_unit_test(packets_come_back),
        cmocka_unit_test(probes_fill_every_end),
        cmocka_unit_test(judged_by_what_is_furthest_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
