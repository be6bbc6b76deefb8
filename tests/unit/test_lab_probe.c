/* SPDX-License-Identifier: Apache-2.0
 *
 * A lab that does what it says is not refused: what sites would see of a probe over lines that are
 * kept to the ns, judged, for lines of many kinds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h" /* before cmocka.h, which has a macro of the name fail */

#include "common/rng.h"
#include "config/config.h"
#include "lab/mesh.h"
#include "lab/probe.h"
#include "unit.h"

struct play {
    struct lab_spec spec;
    struct lab_mesh mesh;
    struct probe_plan plan;
    struct probe_seen *seen; /* [phase][from * n + to] */
    struct rng rng;
};

struct note { /* in the packet's data */
    size_t phase, from;
    double sent_ns;
};

static void deliver(struct play *p, double now_ns)
{
    size_t n = p->spec.n;
    lab_mesh_move(&p->mesh, now_ns);
    for (size_t to = 0; to < n; to++) {
        struct fifo *out = &p->mesh.ends[to].out;
        while (out->first && out->first->when.last_ns <= now_ns) {
            struct packet *one = fifo_take(out);
            struct note note;
            memcpy(&note, one->data, sizeof note);
            const struct probe_phase *f = &p->plan.phases[note.phase];
            struct probe_seen *s = &p->seen[note.phase * n * n + note.from * n + to];
            s->got++;
            if (f->kind == PROBE_BULK)
                probe_note_bulk(f, s, one->bytes - PROBE_HEADERS_B, (uint64_t)one->when.last_ns);
            if (f->kind == PROBE_PING) /* the answer takes as long as the other way says */
                s->rtt_ns = (uint64_t)(one->when.last_ns - note.sent_ns +
                                       1e9 * lab_way_of(&p->spec, to, note.from)->delay_s);
            packet_put(&p->mesh.packets, one);
        }
    }
}

static void send_one(struct play *p, size_t phase, size_t flow, double now_ns)
{
    struct packet *one = packet_get(&p->mesh.packets, false);
    struct note note = {phase, flow / p->spec.n, now_ns};
    assert_non_null(one);
    memcpy(one->data, &note, sizeof note);
    one->bytes = p->plan.phases[phase].datagram_B + PROBE_HEADERS_B;
    p->seen[phase * p->spec.n * p->spec.n + flow].sent++;
    lab_mesh_put(&p->mesh, one, flow / p->spec.n, flow % p->spec.n, now_ns);
}

static void play_phase(struct play *p, size_t phase)
{
    static const bool nobody[LAB_SITES_MAX];
    const struct probe_phase *f = &p->plan.phases[phase];
    size_t all = p->spec.n * p->spec.n;
    double *next = calloc(all, sizeof *next);
    assert_non_null(next);
    for (size_t i = 0; i < all; i++)
        next[i] = f->interval_ns[i] > 0 ? (double)f->start_ns : INFINITY;
    for (;;) {
        size_t flow = 0;
        for (size_t i = 1; i < all; i++)
            flow = next[i] < next[flow] ? i : flow;
        double due = lab_mesh_next(&p->mesh, nobody), now = fmin(due, next[flow]);
        if (now >= (double)f->end_ns)
            break;
        deliver(p, now);
        if (next[flow] > now)
            continue;
        send_one(p, phase, flow, now);
        next[flow] += probe_plan_wait_ns(f, flow, &p->rng);
        if (next[flow] >= (double)f->stop_ns)
            next[flow] = INFINITY;
    }
    deliver(p, (double)f->end_ns);
    free(next);
}

/* What a probe says of these lines; `share`: of its rate that each line really has. */
static int judge(const char *text, double share, char *why, size_t size)
{
    struct config *c;
    struct play p = {0};
    struct probe probe;
    assert_int_equal(config_from_text(&c, "lab.ini", text, strlen(text), NULL), GS_OK);
    assert_int_equal(lab_spec_read(&p.spec, c), GS_OK);
    assert_int_equal(lab_mesh_make(&p.mesh, &p.spec), GS_OK);
    for (size_t i = 0; i < p.spec.n; i++) {
        const struct lab_site *s = &p.spec.sites[i];
        shaper_set(&p.mesh.ends[i].up, share * s->up_Bps, s->up_queue_B);
        shaper_set(&p.mesh.ends[i].down, share * s->down_Bps, s->down_queue_B);
    }
    rng_seed(&p.rng, 1);
    probe_plan_make(&p.plan, &p.spec, 1000000);
    p.seen = calloc(p.plan.n * p.spec.n * p.spec.n, sizeof *p.seen);
    assert_non_null(p.seen);
    for (size_t i = 0; i < p.plan.n; i++)
        play_phase(&p, i);
    probe_make(&probe, p.spec.n);
    probe_take(&probe, &p.spec, &p.plan, p.seen);
    int code = probe_judge(&probe, &p.spec, why, size);
    probe_free(&probe);
    free(p.seen);
    probe_plan_free(&p.plan);
    lab_mesh_free(&p.mesh);
    lab_spec_free(&p.spec);
    config_free(c);
    return code;
}

/* Each was refused for another reason. */
static const char *const refused_once[] = {
    /* many flows to one end, of few packets each */
    "[sites]\na = up=200Mbit/s down=30Mbit/s\nb = up=25Mbit/s down=40Mbit/s\nc = up=40Mbit/s "
    "down=10Mbit/s\nd = up=40Mbit/s down=50Mbit/s\ne = up=5Mbit/s down=25Mbit/s\n"
    "[links]\nrtt = 24ms\nmtu = 9000\n",
    /* flows at even paces into one full queue */
    "[sites]\na = up=95Mbit/s down=50Mbit/s\nb = up=30Mbit/s down=80Mbit/s\nc = up=75Mbit/s "
    "down=10Mbit/s\n[links]\nrtt = 23ms\nmtu = 9000\na-c = rate=100Mbit/s rtt=26ms\n",
    /* a slow site beside a fast one, to a third */
    "[sites]\na = up=50Mbit/s down=40Mbit/s\nb = up=2Mbit/s down=2Mbit/s\nc = up=25Mbit/s "
    "down=500Mbit/s\n[links]\nrtt = 1ms\nmtu = 9000\n",
    /* pings that wait for pings */
    "[sites]\na = up=2Mbit/s\nb = up=2Mbit/s\nc = up=500Mbit/s\nd = up=500Mbit/s\n"
    "[links]\nrtt = 2ms\nmtu = 9000\n",
    /* a shared line slower than what counts losses */
    "[sites]\na = up=80Mbit/s\nb = up=80Mbit/s\nc = up=80Mbit/s\n"
    "[links]\nrtt = 52ms\nmtu = 1500\nshared.sea = rate=2Mbit/s links=a-b,a-c\n",
    /* losses of a slow line, by chance */
    "[sites]\na = up=2Mbit/s\nb = up=5Mbit/s\nc = up=20Mbit/s\n"
    "[links]\nrtt = 20ms\nmtu = 9000\nloss = 2%\n",
};

TEST(what_is_kept_is_not_refused)
{
    char why[512];
    for (size_t i = 0; i < sizeof refused_once / sizeof *refused_once; i++)
        if (judge(refused_once[i], 1, why, sizeof why))
            fail_msg("%s: %s", refused_once[i], why);
}

static double one_of(struct rng *r, const double *v, size_t n)
{
    return v[rng_below(r, n)];
}

static void any_lab(struct rng *r, char *text, size_t size)
{
    static const double rates[] = {10, 20, 25, 40, 50, 80, 95, 100, 200, 500};
    static const double mtus[] = {1500, 9000}, losses[] = {0, 0, 0.1, 1};
    FILE *f = fmemopen(text, size, "w");
    size_t n = 2 + rng_below(r, 6), rows = sizeof rates / sizeof *rates;
    assert_non_null(f);
    fprintf(f, "[sites]\n");
    for (size_t i = 0; i < n; i++)
        fprintf(f, "s%zu = up=%gMbit/s down=%gMbit/s\n", i, one_of(r, rates, rows),
                one_of(r, rates, rows));
    fprintf(f, "[links]\nrtt = %gms\nmtu = %g\nloss = %g%%\n", 1 + 80 * rng_uniform(r),
            one_of(r, mtus, 2), one_of(r, losses, 4));
    if (rng_below(r, 2))
        fprintf(f, "s0-s%zu = rate=%gMbit/s rtt=60ms\n", 1 + rng_below(r, n - 1),
                one_of(r, rates, rows));
    if (n > 3 && rng_below(r, 2))
        fprintf(f, "shared.sea = rate=%gMbit/s links=s0-s1,s0-s2,s1-s3\n", one_of(r, rates, rows));
    fclose(f);
}

TEST(nor_is_any_other)
{
    enum { LABS = 60 };
    struct rng r;
    char text[2048], why[512];
    rng_seed(&r, 5);
    for (int i = 0; i < LABS; i++) {
        any_lab(&r, text, sizeof text);
        if (judge(text, 1, why, sizeof why))
            fail_msg("%s: %s", text, why);
    }
}

TEST(what_is_not_kept_is)
{
    static const char equal[] = "[sites]\na = up=100Mbit/s\nb = up=100Mbit/s\nc = up=100Mbit/s\n"
                                "[links]\nrtt = 20ms\nmtu = 9000\n";
    char why[512];
    assert_int_equal(judge(equal, 0.95, why, sizeof why), GS_CANNOT);
    assert_non_null(strstr(why, "95 Mbit/s instead of 100 Mbit/s"));
    assert_int_equal(judge(equal, 1.05, why, sizeof why), GS_CANNOT);
    for (size_t i = 0; i < sizeof refused_once / sizeof *refused_once; i++)
        assert_int_equal(judge(refused_once[i], 0.8, why, sizeof why), GS_CANNOT);
}
