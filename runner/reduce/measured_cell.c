/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/measured_cell.h"

#include "base/units.h"
#include "wan/net.h"

#include <string.h>

static const struct {
    const char *name;
    double bits;
} wires[] = {{"fp32", 32}, {"bf16", 16}, {"int8", 8}, {"int4", 4}};

static void read_word(const struct rec_cell *c, const char *key, char *buf, size_t n)
{
    if (!recorded_param(c, key, buf, n))
        *buf = '\0';
}

static int64_t read_count(const struct rec_cell *c, const char *key, int64_t otherwise)
{
    char buf[64];
    int64_t value = otherwise;
    if (recorded_param(c, key, buf, sizeof buf))
        units_parse_int(buf, &value);
    return value;
}

static double read_size(const struct rec_cell *c, const char *key, uint64_t otherwise)
{
    char buf[64];
    uint64_t value = otherwise;
    if (recorded_param(c, key, buf, sizeof buf))
        units_parse_size(buf, &value);
    return (double)value;
}

static int read_congestion(const struct rec_cell *c)
{
    char word[64];
    read_word(c, "congestion", word, sizeof word);
    for (int i = 0; wan_congestions[i]; i++)
        if (!strcmp(word, wan_congestions[i]))
            return i;
    return strcmp(word, "auto") ? WAN_CELL_GIVEN : WAN_CELL_AUTO;
}

struct wan_cell wan_cell_read(const struct rec_cell *c)
{
    struct wan_cell s = {.model = WAN_STRATEGIES, .bits = 32, .congestion = read_congestion(c)};
    char word[64];
    read_word(c, "strategy", s.strategy, sizeof s.strategy);
    read_word(c, "transport", s.transport, sizeof s.transport);
    read_word(c, "wire", s.wire, sizeof s.wire);
    for (int i = 0; i < WAN_RECORDED; i++)
        if (wan_strategy_names[i] && !strcmp(s.strategy, wan_strategy_names[i]))
            s.model = i;
    for (size_t i = 0; i < sizeof wires / sizeof *wires; i++)
        if (!strcmp(s.wire, wires[i].name))
            s.bits = wires[i].bits;
    s.streams = strcmp(s.transport, "tcp") ? 1 : read_count(c, "streams", 1);
    s.block_B = read_size(c, "block", 256 << 10);
    s.every = read_count(c, "every", 1);
    s.fragments = read_count(c, "fragments", 1);
    s.overlap = read_count(c, "overlap", 0);
    s.accumulate = read_count(c, "accumulate", 1);
    s.tokens = read_count(c, "tokens", 0);
    s.target_tokens = read_count(c, "target_tokens", 0);
    s.equal_shares = recorded_param(c, "shares", word, sizeof word) && !strcmp(word, "equal");
    s.strict = recorded_param(c, "strict", word, sizeof word) && !strcmp(word, "yes");
    if (recorded_param(c, "compute", word, sizeof word))
        units_parse_time(word, &s.compute_s);
    s.trains = s.compute_s > 0 ||
               (recorded_param(c, "compute_kind", word, sizeof word) && !strcmp(word, "gemm"));
    return s;
}

#define HEADROOM 0.98 /* tcp_pace.h: PACE_HEADROOM, a share of the uplink */

struct wan_carrier wan_cell_carrier(const struct wan_cell *s, const struct wan_map *map,
                                    double loss, int given)
{
    bool tcp = !strcmp(s->transport, "tcp");
    int begins = s->congestion == WAN_CELL_AUTO ? given : map->common.congestion;
    return wan_carrier_make(s->block_B, (double)s->streams, tcp ? wan_segment_B(&map->common) : 0,
                            begins == WAN_BBR, loss);
}

double wan_cell_headroom(const struct wan_cell *s)
{
    return strcmp(s->transport, "tcp") ? 1 : HEADROOM;
}
