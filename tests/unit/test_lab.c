/* SPDX-License-Identifier: Apache-2.0
 *
 * The links of a lab from the text of a config, without devices: packets go in at a time and come out at
 * a time. Who leaves when, what is dropped or lost, and what a probe measures of it.
 */
#include "config/config.h"
#include "lab/mesh.h"
#include "lab/probe.h"
#include "unit.h"

#define MS 1e6 /* ns */

struct fixture {
    struct config *config;
    struct lab_spec spec;
    struct lab_mesh mesh;
};

static struct fixture lab; /* of the test that runs */

static void begin(const char *text)
{
    assert_int_equal(config_from_text(&lab.config, "lab.ini", text, strlen(text), NULL), GS_OK);
    assert_int_equal(lab_spec_read(&lab.spec, lab.config), GS_OK);
    lab_mesh_make(&lab.mesh, &lab.spec);
}

static int end(void **state)
{
    (void)state;
    lab_mesh_free(&lab.mesh);
    lab_spec_free(&lab.spec);
    config_free(lab.config);
    lab = (struct fixture){0};
    return 0;
}

/* A test of the lines that a text describes. */
#define TEST_OF(name, text)                                                                        \
    static int begin_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        begin(text);                                                                               \
        return 0;                                                                                  \
    }                                                                                              \
    TEST_WITH(name, begin_##name, end)

static void put(size_t from, size_t to, unsigned bytes, double now_ns)
{
    struct packet *p = packet_new(bytes);
    p->bytes = bytes;
    lab_mesh_put(&lab.mesh, p, from, to, now_ns);
}

/* When the next packet is ready for a site; NAN: none is, ever. */
static double take(size_t to)
{
    struct fifo *out = &lab.mesh.ends[to].out;
    for (double t = 0; !out->first && !isinf(t); t = lab_mesh_next(&lab.mesh))
        lab_mesh_move(&lab.mesh, t);
    if (!out->first)
        return NAN;
    struct packet *p = fifo_take(out);
    double at_ns = p->when.last_ns;
    free(p);
    return at_ns;
}

#define at_ns(is, should) near(is, should, 1)

/* ---- one line ---- */

static double leaves(struct shaper *s, double now_ns, unsigned bytes)
{
    struct passage p = {.last_ns = now_ns};
    return shaper_pass(s, bytes, &p) ? p.last_ns : NAN;
}

TEST(paced_to_the_byte)
{
    struct shaper s = {0};
    shaper_set(&s, 1e6, 1e9); /* 1000 ns a byte */
    assert_true(leaves(&s, 0, 1000) == 1 * MS);
    assert_true(leaves(&s, 0, 500) == 1.5 * MS);
    /* Looked at late: the line was never idle, and nothing is lost by that. */
    assert_true(leaves(&s, 1.4 * MS, 1500) == 3 * MS);
    /* It was idle: time that has passed is not sent in again. */
    assert_true(leaves(&s, 10 * MS, 1000) == 11 * MS);
}

TEST(queue_drops_the_tail)
{
    struct shaper s = {0};
    int kept = 0;
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
TEST(an_idle_line_takes_any_packet)
{
    struct shaper s = {0};
    shaper_set(&s, 1e6, 100);
    assert_true(leaves(&s, 0, 9000) == 9 * MS);
    assert_true(isnan(leaves(&s, 0, 1)));
}

TEST(behind_an_equal_line_nothing_waits_twice)
{
    struct shaper up = {0}, down = {0}, slow = {0};
    struct passage p = {.last_ns = 0};
    shaper_set(&up, 1e6, 1e9);
    shaper_set(&down, 1e6, 1e9);
    shaper_set(&slow, 0.5e6, 1e9);
    assert_true(shaper_pass(&up, 1000, &p) && shaper_pass(&down, 1000, &p));
    assert_true(p.last_ns == 1 * MS);
    assert_true(shaper_pass(&slow, 1000, &p));
    assert_true(p.last_ns == 2 * MS);
}

/* What trickles in from a slow line has not waited on a fast one for all that time. */
TEST(behind_a_slow_line_nothing_is_dropped)
{
    struct shaper fast;
    struct passage busy = {.last_ns = 9 * MS}, slow = {.last_ns = 10 * MS, .long_ns = 10 * MS};
    shaper_set(&fast, 1e6, 2000);
    assert_true(shaper_pass(&fast, 1000, &busy));
    assert_true(shaper_pass(&fast, 1000, &slow));
    assert_true(slow.last_ns == 11 * MS);
}

/* ---- lines between sites ---- */

static const char three[] =
    "[sites]\na = up=8Mbit/s\nb = up=8Mbit/s down=4Mbit/s\nc = up=80Mbit/s\n"
    "[links]\nrtt = 20ms\nmtu = 1000\nb>a = rtt=60ms\n";

TEST_OF(a_way_is_half_its_rtt, three)
{
    put(0, 2, 1000, 0); /* 8 Mbit/s: a byte is 1 us */
    at_ns(take(2), 11 * MS);
    put(1, 0, 1000, 100 * MS); /* one direction has its own */
    at_ns(take(0), 131 * MS);
    put(0, 1, 1000, 200 * MS); /* b receives at half */
    at_ns(take(1), 212 * MS);
}

TEST_OF(senders_share_a_downlink, three)
{
    put(0, 1, 1000, 0);
    put(2, 1, 1000, 0); /* faster there: first there */
    at_ns(take(1), 12 * MS);
    at_ns(take(1), 14 * MS);
}

TEST(losses_are_those_asked_for)
{
    static const char text[] = "[sites]\na = up=1Gbit/s\nb = up=1Gbit/s\n"
                               "[links]\nrtt = 1ms\nloss = 2%\nqueue = 1GB\n";
    enum { N = 100000 };
    begin(text);
    for (int i = 0; i < N; i++) {
        put(0, 1, 60, i * MS);
        take(1);
    }
    double sigma = sqrt(N * 0.02 * 0.98);
    assert_true(fabs((double)lab.mesh.counts.losses - 0.02 * N) < 5 * sigma);
    assert_int_equal(lab.mesh.counts.queue_drops, 0);
    uint64_t first = lab.mesh.counts.losses;
    end(NULL);
    begin(text); /* the same seed loses the same */
    for (int i = 0; i < N; i++) {
        put(0, 1, 60, i * MS);
        take(1);
    }
    assert_int_equal(lab.mesh.counts.losses, first);
    end(NULL);
}

TEST_OF(queue_is_a_bandwidth_delay_product, three)
{
    assert_true(lab.spec.sites[0].up_queue_B == 1e6 * 0.04); /* the farthest: 10 + 30 ms */
    assert_true(lab.spec.sites[2].up_queue_B == 1e7 * 0.02);
}

/* ---- the proof ---- */

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
            uint64_t delay_ns = (uint64_t)(one->when.last_ns - note.sent_ns);
            s->delay_ns = s->got > 1 && s->delay_ns < delay_ns ? s->delay_ns : delay_ns;
            free(one);
        }
    }
}

static void send_one(struct play *p, size_t phase, size_t flow, double now_ns)
{
    struct packet *one = packet_new(p->plan.phases[phase].datagram_B + PROBE_HEADERS_B);
    struct note note = {phase, flow / p->spec.n, now_ns};
    memcpy(one->data, &note, sizeof note);
    one->bytes = p->plan.phases[phase].datagram_B + PROBE_HEADERS_B;
    p->seen[phase * p->spec.n * p->spec.n + flow].sent++;
    lab_mesh_put(&p->mesh, one, flow / p->spec.n, flow % p->spec.n, now_ns);
}

static void play_phase(struct play *p, size_t phase)
{
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
        double due = lab_mesh_next(&p->mesh), now = fmin(due, next[flow]);
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
    assert_int_equal(config_from_text(&c, "lab.ini", text, strlen(text), NULL), GS_OK);
    assert_int_equal(lab_spec_read(&p.spec, c), GS_OK);
    lab_mesh_make(&p.mesh, &p.spec);
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
    struct probe_pair *pairs = probe_take(&p.spec, &p.plan, p.seen);
    int code = probe_judge(pairs, &p.spec, why, size);
    free(pairs);
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
    assert_non_null(strstr(why, "instead of 100 Mbit/s"));
    assert_int_equal(judge(equal, 1.05, why, sizeof why), GS_CANNOT);
    for (size_t i = 0; i < sizeof refused_once / sizeof *refused_once; i++)
        assert_int_equal(judge(refused_once[i], 0.8, why, sizeof why), GS_CANNOT);
}
