/* SPDX-License-Identifier: Apache-2.0
 *
 * The strategy that is chosen for measured links, where the recordings in data/raw have one that is
 * clearly the fastest.
 */

#include "common/wan_model.h"
#include "unit.h"

static enum wan_strategy fastest(double mbit, double rtt_ms, double bytes,
                                 const struct wan_carrier *carrier)
{
    static const int order[] = {0, 1, 2, 3};
    double rate[16], rtt[16];
    for (int i = 0; i < 16; i++)
        rate[i] = mbit * 125000, rtt[i] = rtt_ms * 1e-3;
    struct wan_matrix m = {.n = 4, .rate_Bps = rate, .rtt_s = rtt, .carrier = carrier};
    return wan_fastest(&m, bytes, order, NULL);
}

/* Streams that start anew cost a ring most, as it waits for each of its neighbours in turn; blocks
 * that must be whole cost a direct exchange most. */
TEST(over_streams)
{
    struct wan_carrier c = wan_carrier_make(256 << 10, 8, 8948, false, 0);
    assert_int_equal(fastest(1000, 50, 16 << 20, &c), WAN_DIRECT);
    assert_int_equal(fastest(100, 10, 8 << 10, &c), WAN_ONESHOT);
}

TEST(without_them)
{
    assert_int_equal(fastest(1000, 50, 16 << 20, NULL), WAN_RING);
    assert_int_equal(fastest(100, 10, 64 << 10, NULL), WAN_DIRECT);
}
