/* SPDX-License-Identifier: Apache-2.0
 *
 * The lower bound of an all-reduce against the model of every strategy.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/config.h"
#include "unit.h"
#include "wan/training.h"

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
