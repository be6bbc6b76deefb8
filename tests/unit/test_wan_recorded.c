/* SPDX-License-Identifier: Apache-2.0
 *
 * The WAN model against recordings of wan_sync in the lab, where a term of it decides: four sites,
 * 100 Mbit/s, nothing lost.
 */
#include <math.h>

#include "unit.h"
#include "wan/net.h"

#define RATE_BPS (100e6 / 8)
#define HEADROOM 0.98 /* of the rate, which wan_sync leaves free */

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
        rate[i] = HEADROOM * RATE_BPS * wan_goodput(c->mtu_B);
        hop[i] = c->rtt_s / 2;
    }
    struct wan_carrier tcp =
        wan_carrier_make(256 << 10, c->streams, c->mtu_B - WAN_HEADERS_B, c->bbr, 0);
    struct wan_net net = {.n = 4,
                          .up_Bps = rate,
                          .down_Bps = rate,
                          .hop_s = hop,
                          .farthest_s = c->rtt_s / 2,
                          .equal_shares = true,
                          .carrier = &tcp};
    return wan_sync_s(c->strategy, &net, c->bytes);
}

static void assert_modelled(const struct cell *cells, size_t n, double share)
{
    for (size_t i = 0; i < n; i++) {
        double s = modelled_s(&cells[i]);
        if (fabs(s / cells[i].recorded_s - 1) > share)
            fail_msg("cell %zu: %g s is not within %g%% of %g s", i, s, 100 * share,
                     cells[i].recorded_s);
    }
}

#define ALL(cells) (cells), sizeof(cells) / sizeof *(cells)

/* A ring of 4 MiB: a trace of one site's device has 6.7465 MB of IP packets. */
TEST(counts_the_frames_of_blocks)
{
    struct wan_carrier tcp = wan_carrier_make(256 << 10, 8, 1448, false, 0);
    tcp.frame_B = 80; /* when it was traced, with proofs */
    double sent_B = 1.5 * (4 << 20), part_B = (4 << 20) / 4.0;
    double packets_B = sent_B * wan_framed(&tcp, part_B) / wan_goodput(1500);
    assert_true(fabs(packets_B / 6.7465e6 - 1) < 0.005);
    assert_true(sent_B / wan_goodput(1500) < 0.985 * 6.7465e6);
    const struct wan_carrier mpi = wan_carrier_make(256 << 10, 8, 0, false, 0);
    assert_true(wan_framed(&mpi, part_B) == 1 && wan_framed(NULL, part_B) == 1);
}

/* A block of a small part has a stream for itself, and leaves at the stream's part of the rate. */
TEST(bbr_keeps_each_stream_at_its_part)
{
    const struct cell cells[] = {
        {WAN_RING, 1500, 0.03, 8, true, 65536, 0.1105},
        {WAN_RING, 1500, 0.03, 24, true, 65536, 0.1417},
        {WAN_RING, 1420, 0.03, 8, true, 65536, 0.1180},
        {WAN_DIRECT, 1500, 0.03, 8, true, 65536, 0.0511},
    };
    assert_modelled(ALL(cells), 0.05);
}

TEST(window_of_one_block)
{
    const struct cell cells[] = {
        {WAN_RING, 1500, 0.03, 8, false, 65536, 0.1258},
        {WAN_RING, 1420, 0.03, 8, false, 65536, 0.1307},
    };
    assert_modelled(ALL(cells), 0.035);
}

/* A quarter of the bytes, as with int8 (262,144 values and their scales): three streams have eight blocks, two packets at a time. */
TEST(small_blocks_leave_in_one_burst)
{
    const struct cell cells[] = {{WAN_RING, 9000, 0.01, 8, false, 270336, 0.0448}};
    assert_modelled(ALL(cells), 0.035);
}

/* 24 streams take turns with bursts, and the next site waits for a whole block. */
TEST(block_waits_for_other_streams)
{
    struct cell few = {WAN_RING, 1500, 0.03, 8, true, 1 << 20, 0}, many = few;
    many.streams = 24;
    assert_true(modelled_s(&many) > modelled_s(&few) + 0.01);
}
