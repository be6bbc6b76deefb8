/* SPDX-License-Identifier: Apache-2.0
 *
 * The WAN model against numbers that others published or that arithmetic gives.
 */
#include "common/wan_model.h"
#include "config/config.h"
#include "unit.h"
#include "wan/net.h"
#include "wan/training.h"

#define GIGABIT (1e9 / 8)

static void assert_within(double measured, double expected, double factor)
{
    if (!(measured <= expected * factor && measured >= expected / factor))
        fail_msg("%g is not within x%g of %g", measured, factor, expected);
}

static void assert_near(double measured, double expected, double relative)
{
    if (!(fabs(measured - expected) <= relative * fabs(expected)))
        fail_msg("%g is not within %g%% of %g", measured, 100 * relative, expected);
}

/* Four equal sites in a ring. */
static struct wan_net four(double rate_Bps, double delay_s)
{
    static double up[4], hop[4];
    for (int i = 0; i < 4; i++) {
        up[i] = rate_Bps;
        hop[i] = delay_s;
    }
    return (struct wan_net){
        .n = 4, .up_Bps = up, .down_Bps = up, .hop_s = hop, .farthest_s = delay_s};
}

/* Douillard et al. 2025, Table 1: 24,120 steps of 0.1 s, 2 workers, 1 Gbit/s: 109 h data-parallel.
 */
TEST(streaming_diloco_table_1)
{
    double up[] = {GIGABIT, GIGABIT}, hop[] = {0, 0};
    struct wan_net net = {.n = 2, .up_Bps = up, .down_Bps = up, .hop_s = hop};
    double step = 0.1 + wan_sync_s(WAN_RING, &net, 1e9 * 16 / 8);
    assert_near(24120 * step / 3600, 109, 0.02);
}

/* The same table: streaming, P = 8, tau = 1, H = 100, 4 bits: 0.88 h where compute alone is 0.67 h.
 * The published hours are those of a fragment that is applied exactly tau steps after it was sent.
 * A fragment that may take until the next one is due would cost nothing. */
TEST(streaming_diloco_table_1_streaming)
{
    double up[] = {GIGABIT, GIGABIT}, hop[] = {0, 0};
    struct wan_net net = {.n = 2, .up_Bps = up, .down_Bps = up, .hop_s = hop};
    struct wan_schedule sch = {.every = 100, .fragments = 8, .hidden = 1};
    double fragment = wan_sync_s(WAN_RING, &net, 1e9 * 4 / 8 / 8);
    double hours = 24120 * 0.1 / wan_efficiency(&sch, 0.1, fragment) / 3600;
    assert_near(hours, 0.88, 0.005 / 0.88);
    sch.hidden = 100.0 / 8 + 1;
    assert_near(24120 * 0.1 / wan_efficiency(&sch, 0.1, fragment) / 3600, 0.67, 0.001);
}

/* INTELLECT-1 (Jaghouar et al. 2024), USA: 38 min of compute, 103 s of synchronisation: 95.7%. */
TEST(intellect_1)
{
    struct wan_schedule sch = {.every = 100, .fragments = 1};
    assert_near(wan_efficiency(&sch, 38 * 60 / 100.0, 103), 0.957, 0.001);
}

/* One stream, 100 Mbit/s, 50 ms: the values that the formulas give (Mathis 8.9; CUBIC 8.4 and BBR
 * 92.8 Mbit/s were measured). */
TEST(one_stream)
{
    double link = 100e6 / 8, rtt = 0.05, mss = 1448;
    assert_near(wan_stream_Bps(WAN_RENO, link, rtt, 1e-3, mss, 0) * 8e-6, 8.9, 0.02);
    assert_near(wan_stream_Bps(WAN_RENO, link, rtt, 1e-4, mss, 0) * 8e-6, 28.3, 0.02);
    assert_within(wan_stream_Bps(WAN_CUBIC, link, rtt, 1e-3, mss, 0) * 8e-6, 8.4, 1.25);
    assert_within(wan_stream_Bps(WAN_BBR, link, rtt, 1e-3, mss, 0) * 8e-6, 92.8, 1.1);
    assert_near(wan_stream_Bps(WAN_CUBIC, link, rtt, 0, mss, 250e3), 250e3 / rtt, 1e-12);
}

/* Keiblinger et al. 2025 (PCCL), six sites in western Europe: an all-reduce of 1.0737 GB over one
 * connection takes 8.3 s, and over 8, 16, 32 and 64 it uses 11.25, 18.17, 34.29 and 44.47 Gbit/s (both
 * directions together), so 2.5, 1.6, 0.83 and 0.64 s. The line is that of 128 connections. */
TEST(many_streams)
{
    static const struct {
        double streams, seconds;
    } published[] = {{1, 8.3}, {8, 2.54}, {16, 1.58}, {32, 0.835}, {64, 0.644}};
    double bytes = 1073741824, sent = 2 * 5 / 6.0 * bytes, line = 45.74e9 / 8 / 2;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        double rate = wan_streams_Bps(sent / 8.3, published[i].streams);
        assert_within(sent / rate, published[i].seconds, 1.5); /* also where no line is known */
        struct wan_link l = {.rate_Bps = line,
                             .rtt_s = 0.01,
                             .streams = (int64_t)published[i].streams,
                             .window_B = sent / 8.3 * 0.01};
        assert_within(sent / wan_link_Bps(&l, 1), published[i].seconds, 1.5);
        l.rate_Bps = 1e8; /* a slow line is full with one */
        assert_near(wan_link_Bps(&l, 1), 1e8, 1e-12);
    }
}

/* 30,846,720 fp32 parameters, 4 workers, 992.6 Mbit/s, LAN delay: 1.506 s, 99% of the ring bound.
 */
TEST(lan_of_four)
{
    struct wan_net net = four(992.6e6 / 8, 50e-6);
    assert_near(wan_sync_s(WAN_RING, &net, 30846720 * 4.0), 1.506, 0.015);
}

/* 1.3e9 parameters over four sites at 1 Gbit/s: what the four-site plan would really do. */
TEST(four_site_plan)
{
    struct wan_net net = four(GIGABIT, 0.015);
    struct wan_training t = {
        .parameters = 1.3e9, .tokens = 524288, .gpus = 8, .peak_flops = 312e12, .mfu = 0.5};
    struct wan_schedule each = {.every = 1, .fragments = 1};
    double sync = wan_sync_s(WAN_RING, &net, 2.6e9), compute = wan_training_compute_s(&t);
    assert_near(wan_wire_bytes(WAN_RING, 4, 2.6e9), 3.9e9, 1e-9);
    assert_near(sync, 31.2, 0.001);
    assert_near(compute, 3.28, 0.001);
    assert_near(wan_efficiency(&each, compute, sync), 0.095, 0.005);
}

/* Shares: a quarter-rate site is given none while the others can carry it, and T is the floor. */
TEST(unequal_shares)
{
    double up[] = {1e8, 1e8, 1e8, 0.25e8}, x[4], sum = 0;
    double t = wan_shares(up, 4, 1e8, x);
    assert_near(t, 4, 1e-9);
    for (int i = 0; i < 4; i++) {
        sum += x[i];
        assert_true(1e8 * (1 + 2 * x[i]) / up[i] <= t * (1 + 1e-9));
    }
    assert_near(sum, 1, 1e-9);
    double equal[] = {1e8, 1e8, 1e8, 1e8};
    assert_near(wan_shares(equal, 4, 1e8, x), 1.5, 1e-6);
    assert_near(x[2], 0.25, 1e-6);
}

/* One slow pair: the two sites at its ends compute less, so that both ends and the pair end together.
 * T = 2 / (1 + p) where the pair has the share p of a site's rate. */
TEST(shares_by_pairs)
{
    double x[4], pair[16], end[4] = {1e8, 1e8, 1e8, 1e8}, sum = 0, p = 0.0695;
    for (int i = 0; i < 16; i++)
        pair[i] = 1e8;
    pair[1 * 4 + 3] = p * 1e8; /* one direction is enough */
    double t = wan_shares_of_pairs(end, pair, 4, 1e8, x);
    assert_near(t, 2 / (1 + p), 1e-9);
    assert_near(x[0], 0.435, 0.002);
    assert_near(x[2], 0.435, 0.002);
    assert_near(x[1] + x[3], 0.130, 0.002);
    for (int i = 0; i < 4; i++)
        sum += x[i];
    assert_near(sum, 1, 1e-9);
    pair[1 * 4 + 3] = 0; /* not measured */
    assert_near(wan_shares_of_pairs(end, pair, 4, 1e8, x), 1.5, 1e-9);
    end[2] = 25e6; /* as without pairs */
    assert_near(wan_shares_of_pairs(end, pair, 4, 1e8, x), wan_shares(end, 4, 1e8, NULL), 1e-9);
    assert_near(wan_shares_of_pairs(end, pair, 2, 1e8, x), wan_shares(end, 2, 1e8, NULL), 1e-9);
}

/* A latency-bound ring pays six hops over four sites, recursive doubling two. */
TEST(small_messages)
{
    struct wan_net net = four(GIGABIT, 0.015);
    assert_near(wan_sync_s(WAN_RING, &net, 65536), 0.090, 0.01);
    assert_near(wan_sync_s(WAN_RECURSIVE_DOUBLING, &net, 65536), 0.0305, 0.001);
    assert_near(wan_sync_s(WAN_RABENSEIFNER, &net, 65536), 0.0608, 0.01);
    const double far_s[] = {0.015, 0.015, 0.015, 0.015};
    for (int s = 0; s < WAN_STRATEGIES; s++)
        assert_true(wan_sync_s((enum wan_strategy)s, &net, 65536) >=
                    wan_bound_s(&net, 65536, far_s, 0.015));
}

/* Two ranks a site: a ring passes each site's uplink once for both; others send twice as much. The
 * leader of a site takes and gives half of the bytes of each way twice. */
TEST(ranks_of_a_site)
{
    struct wan_net net = four(GIGABIT, 0.015);
    double one = wan_sync_s(WAN_RING, &net, 1 << 30), twice = 2.0 * (1 << 30);
    net.equal_shares = true;
    assert_near(wan_sync_s(WAN_DIRECT, &net, twice), wan_sync_s(WAN_RING, &net, twice), 0.01);
    double doubled = wan_sync_s(WAN_DIRECT, &net, twice);
    net.flat = 2;
    assert_near(wan_sync_s(WAN_RING, &net, 1 << 30), one * (14.0 / 8) / (6.0 / 4), 0.005);
    assert_near(wan_sync_s(WAN_RING, &net, 4096), 14 * 0.0075, 0.01);
    assert_near(wan_sync_s(WAN_DIRECT, &net, 1 << 30), doubled, 1e-9);
    net.flat = 0, net.ranks_per_site = 2, net.lan_Bps = 1e9;
    assert_near(wan_sync_s(WAN_HIERARCHICAL, &net, 1 << 30), one + (1 << 30) / 1e9, 1e-9);
    const struct wan_carrier fine = {.least_B = 1, .most_B = 1e9, .pieces = 1e9};
    net.carrier = &fine;
    assert_near(wan_sync_s(WAN_HIERARCHICAL, &net, 1 << 30), one + 2.0 * (1 << 30) / 1e9, 1e-6);
}

/* Streaming hides a fragment that is done before the next is due, and nothing else. */
TEST(overlap)
{
    struct wan_schedule sch = {.every = 100, .fragments = 10, .hidden = 11};
    assert_true(wan_exposed_s(&sch, 0.1, 1.0) < 1e-12);
    assert_near(wan_exposed_s(&sch, 0.1, 1.2), 2.0, 1e-9); /* 12 s of links in 10 s of compute */
    sch.hidden = 1;
    assert_near(wan_exposed_s(&sch, 0.1, 0.3), 2.0, 1e-9);
    assert_near(wan_goodput(1500), 0.949, 0.001);
    assert_true(wan_goodput(9000) > 0.99 && wan_goodput(9000) < 0.994);
}

/* What a simulation of every packet gives for the schedules of wan_sync: four sites, packets of
 * 9000 bytes, blocks of 16 KiB to 256 KiB, 0.1 ms a hop, nothing lost. Milliseconds; 64 KiB, 1 MiB
 * and 16 MiB. */
static const struct carried_row {
    double rate_Bps, delay_s;
    enum wan_strategy strategy;
    double ms[3];
} carried_table[] = {
    {GIGABIT / 10, 0.015, WAN_RING, {98.5, 142.0, 2043.6}},
    {GIGABIT / 10, 0.015, WAN_DIRECT, {38.1, 142.0, 2043.6}},
    {GIGABIT / 10, 0.025, WAN_RING, {158.5, 178.4, 2053.6}},
    {GIGABIT / 10, 0.025, WAN_DIRECT, {58.1, 152.0, 2053.6}},
    {GIGABIT, 0.015, WAN_RING, {91.4, 93.4, 218.0}},
    {GIGABIT, 0.015, WAN_DIRECT, {31.0, 38.8, 218.0}},
    {GIGABIT, 0.025, WAN_RING, {151.4, 153.4, 228.0}},
    {GIGABIT, 0.025, WAN_DIRECT, {51.0, 58.8, 228.0}},
};

TEST(carried_in_blocks)
{
    const struct wan_carrier blocks = {
        .least_B = 16384, .most_B = 262144, .pieces = 128, .hop_s = 1e-4, .streams = 8};
    for (size_t r = 0; r < sizeof carried_table / sizeof *carried_table; r++) {
        const struct carried_row *row = &carried_table[r];
        struct wan_net net = four(row->rate_Bps * 8948 / 9000, row->delay_s);
        net.carrier = &blocks;
        net.equal_shares = true;
        for (int i = 0; i < 3; i++)
            assert_near(wan_sync_s(row->strategy, &net, 65536 << 4 * i) * 1e3, row->ms[i], 0.025);
    }
}

/* ---- the lower bound of an all-reduce against the model of every strategy ---- */

static uint64_t seed = 20261201;

/* Between low and high, in equal shares of the logarithm. */
static double any(double low, double high)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return low * pow(high / low, (double)(seed >> 11) / 9007199254740992.0);
}

static struct config *config_of(const char *text)
{
    struct config *c;
    assert_int_equal(config_from_text(&c, "bound.ini", text, strlen(text), NULL), 0);
    return c;
}

static double bound_of(const char *text, double bytes)
{
    struct wan_map m = {0};
    struct config *c = config_of(text);
    assert_int_equal(wan_map_read(&m, c), 0);
    double s = wan_map_bound_s(&m, bytes);
    wan_map_free(&m);
    config_free(c);
    return s;
}

/* Every rate and, unless `equal`, every round trip is drawn anew. */
static void add_network(struct text *t, int sites, bool equal)
{
    text_addf(t, "[sites]\n");
    for (int i = 0; i < sites; i++)
        text_addf(t, "s%d = gpus=1 up=%.3fMbit/s down=%.3fMbit/s\n", i, any(10, 1e5), any(10, 1e5));
    text_addf(t, "[links]\nrate = 1Gbit/s\nrtt = %.3fms\n", any(1, 100));
    for (int i = 0; i < sites && !equal; i++)
        for (int k = i + 1; k < sites; k++)
            text_addf(t, "s%d-s%d = rtt=%.3fms\n", i, k, any(1, 100));
    text_addf(t, "[model]\nparameters = %.0f\ntokens = 1\ncompute = 1s\n", any(1e3, 1e10));
}

static void check_network(const char *text)
{
    struct wan_map m = {0};
    struct wan_training t;
    struct config *c = config_of(text);
    assert_int_equal(wan_map_read(&m, c), 0);
    assert_int_equal(wan_training_read(&t, c, &m), 0);
    struct wan_case one = {.map = &m, .training = &t, .bits = t.bits, .every = 1, .factor = 1};
    double bound = wan_map_bound_s(&m, wan_training_bytes(&t, t.bits));
    for (int s = 0; s < WAN_STRATEGIES; s++) {
        one.strategy = (enum wan_strategy)s;
        double sync = wan_evaluate(&one).sync_s;
        if (!(sync >= bound * (1 - 1e-9)))
            fail_msg("%s takes %g s, the bound is %g s:\n%s", wan_strategy_names[s], sync, bound,
                     text);
    }
    wan_map_free(&m);
    config_free(c);
}

TEST(no_strategy_is_below_the_bound)
{
    for (int i = 0; i < 3000; i++) {
        AUTO_TEXT struct text t = {0};
        add_network(&t, 2 + i % 7, i % 5 == 0);
        check_network(t.s);
    }
}

#define FOUR "[sites]\na = gpus=1\nb = gpus=1\nc = gpus=1\nd = gpus=1\n[links]\nrate = 1Gbit/s\n"

/* 125 MB at 125 MB/s: 1.5 s, and one delay where all are equal. A far pair counts beside the bytes of
 * one vector; a way through other sites may be shorter than the link. */
TEST(delays_beside_the_bytes)
{
    double bytes = 125e6;
    assert_true(fabs(bound_of(FOUR "rtt = 30ms\n", bytes) - 1.515) < 1e-9);
    assert_true(fabs(bound_of(FOUR "rtt = 30ms\na-b = rtt=10ms\n", bytes) - 1.505) < 1e-9);
    assert_true(fabs(bound_of(FOUR "rtt = 30ms\na-b = rtt=2s\n", bytes) - 1.515) < 1e-9);
    assert_true(fabs(bound_of(FOUR "rtt = 2s\na-b = rtt=30ms\n", bytes) - 2) < 1e-9);
}

/* ---- the model against recordings of wan_sync in the lab ----
 *
 * Where a term of it decides: four sites, 100 Mbit/s, nothing lost.
 */

#define RATE_BPS (100e6 / 8)

struct cell {
    enum wan_strategy strategy;
    double mtu_B, rtt_s, streams;
    bool bbr;
    double bytes, recorded_s;
};

static double modelled_s(const struct cell *c)
{
    double rate[4], hop[4];
    for (int i = 0; i < 4; i++) {
        rate[i] = WAN_HEADROOM * RATE_BPS * wan_goodput(c->mtu_B);
        hop[i] = c->rtt_s / 2;
    }
    struct wan_carrier tcp =
        wan_carrier_make(256 << 10, c->streams, c->mtu_B - WAN_HEADERS_B, c->bbr, 0);
    tcp.frame_B = 48; /* when they were recorded */
    struct wan_net net = {.n = 4,
                          .up_Bps = rate,
                          .down_Bps = rate,
                          .hop_s = hop,
                          .farthest_s = c->rtt_s / 2,
                          .equal_shares = true,
                          .carrier = &tcp};
    return wan_sync_s(c->strategy, &net, c->bytes);
}

/* With BBR a block of a small part has a stream for itself, and leaves at the stream's part of the rate; with CUBIC it
 * waits for a window, or, a quarter of the bytes as with int8, leaves in one burst. */
TEST(terms_are_as_recorded_in_the_lab)
{
    const struct cell cells[] = {
        {WAN_RING, 1500, 0.03, 8, true, 65536, 0.1105},
        {WAN_RING, 1500, 0.03, 24, true, 65536, 0.1417},
        {WAN_RING, 1420, 0.03, 8, true, 65536, 0.1180},
        {WAN_DIRECT, 1500, 0.03, 8, true, 65536, 0.0511},
        {WAN_RING, 1500, 0.03, 8, false, 65536, 0.1258},
        {WAN_RING, 1420, 0.03, 8, false, 65536, 0.1307},
        {WAN_RING, 9000, 0.01, 8, false, 270336, 0.0448},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        assert_near(modelled_s(&cells[i]), cells[i].recorded_s, cells[i].bbr ? 0.05 : 0.035);
}

/* ---- the choice of a strategy ---- */

static enum wan_strategy choice_between(const char *links, const char *west, int ranks, double kib)
{
    char text[1024];
    struct config *c;
    struct wan_map m;
    struct wan_training t;
    snprintf(text, sizeof text,
             "[sites]\nnorth = gpus=%d\neast = gpus=%d\nsouth = gpus=%d\nwest = gpus=%d %s\n"
             "[links]\nrate = 100Mbit/s\nrtt = 30ms\nmtu = 9000\n%s\n"
             "[model]\nparameters = %g\nbits = 32\ntokens = 1e6\ncompute = 1s\n",
             ranks, ranks, ranks, ranks, west, links, kib * 256);
    assert_int_equal(config_from_text(&c, "choice.ini", text, strlen(text), NULL), 0);
    assert_int_equal(wan_map_read(&m, c), 0);
    assert_int_equal(wan_training_read(&t, c, &m), 0);
    enum wan_strategy best = wan_best_strategy(&m, &t);
    wan_map_free(&m);
    config_free(c);
    return best;
}

/* Four sites in the lab, 100 Mbit/s, 30 ms, CUBIC, medians of three to nine blocks in ms on two busy cores: the
 * strategy that the model chooses is the fastest there, with one and two ranks a site. 0: not measured. */
TEST(chooses_what_was_fastest_in_the_lab)
{
    static const struct {
        const char *links, *west;
    } nets[] = {{"", ""}, {"", "up=25Mbit/s"}, {"east-west = rate=20Mbit/s", ""}};
    static const struct {
        int net, ranks;
        double kib, ms[WAN_STRATEGIES]; /* ring, direct, oneshot, hierarchical */
    } measured[] = {
        {0, 1, 64, {98.1, 41.5, 35.5, 98.0}}, {0, 1, 256, {110, 55.0, 86.0, 106}},
        {0, 1, 1024, {149, 174, 0, 164}},     {0, 1, 4096, {557, 611, 0, 580}},
        {1, 1, 64, {106, 65.4, 80.0, 106}},   {1, 1, 256, {149, 133, 519, 149}},
        {1, 1, 1024, {562, 415, 0, 597}},     {1, 1, 4096, {2080, 1600, 0, 2110}},
        {2, 1, 64, {99.9, 44.8, 45.7, 103}},  {2, 1, 256, {110, 72.2, 129, 109}},
        {2, 1, 1024, {146, 207, 0, 146}},     {2, 1, 4096, {569, 729, 0, 623}},
        {0, 2, 64, {126, 48.5, 377, 119}},    {0, 2, 1024, {267, 606, 0, 249}},
        {0, 2, 4096, {964, 1380, 0, 761}},    {1, 2, 64, {131, 97.3, 584, 111}},
        {1, 2, 1024, {628, 920, 0, 600}},     {1, 2, 4096, {2480, 3100, 0, 2130}},
        {2, 2, 64, {118, 59.3, 431, 111}},    {2, 2, 1024, {198, 450, 0, 178}},
        {2, 2, 4096, {731, 1440, 0, 585}},    {0, 2, 256, {127, 98.4, 0, 121}},
        {0, 2, 512, {160, 212, 0, 135}},      {2, 2, 256, {149, 129, 0, 128}},
        {2, 2, 512, {146, 429, 0, 129}},
    };
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        double least = INFINITY;
        for (int s = 0; s < WAN_STRATEGIES; s++)
            least = measured[i].ms[s] > 0 ? fmin(least, measured[i].ms[s]) : least;
        enum wan_strategy chosen =
            choice_between(nets[measured[i].net].links, nets[measured[i].net].west,
                           measured[i].ranks, measured[i].kib);
        if (!(measured[i].ms[chosen] > 0 && measured[i].ms[chosen] <= 1.05 * least))
            fail_msg("network %d, %d ranks a site, %g KiB: %s took %g ms, the fastest %g ms",
                     measured[i].net, measured[i].ranks, measured[i].kib,
                     wan_strategy_names[chosen], measured[i].ms[chosen], least);
    }
}
