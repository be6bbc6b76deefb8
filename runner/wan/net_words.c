/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/net_words.h"

#include "wan/net.h"

#define INT(S, m) #m, WL_INT, WL_AXIS, WL_FIELD(struct S, m, int64_t)
#define DOUBLE(S, name, type, m) name, type, WL_AXIS, WL_FIELD(struct S, m, double)

/* clang-format off */
const struct wl_param wan_site_words[] = {
    {INT(wan_site, gpus), NULL, "0", 0, 1e6, NULL, "GPUs per site"},
    {INT(wan_site, ranks), NULL, "0", 0, 1e6, NULL, "ranks per site; 0: one per GPU"},
    {DOUBLE(wan_site, "up", WL_RATE, up_Bps), "B/s", "0B/s", 0, 1e15, NULL, "uplink rate; 0: rate of [links]"},
    {DOUBLE(wan_site, "down", WL_RATE, down_Bps), "B/s", "0B/s", 0, 1e15, NULL, "downlink rate; 0: same as up"},
    {DOUBLE(wan_site, "lan", WL_RATE, lan_Bps), "B/s", "0B/s", 0, 1e15, NULL, "rate between the ranks of a site; 0: unlimited"},
    {DOUBLE(wan_site, "lat", WL_REAL, lat), "degree", "0", -90, 90, NULL, "latitude, north positive"},
    {DOUBLE(wan_site, "lon", WL_REAL, lon), "degree", "0", -180, 180, NULL, "longitude, east positive"},
    {0}};

const char *const wan_congestions[] = {"reno", "cubic", "bbr", NULL};
const struct wl_param wan_link_words[] = {
    {DOUBLE(wan_link, "rate", WL_RATE, rate_Bps), "B/s", "0B/s", 0, 1e15, NULL, "rate of the link; 0: limited by the sites only"},
    {DOUBLE(wan_link, "rtt", WL_TIME, rtt_s), "s", "0", 0, 3600, NULL, "round-trip time; 0: computed from the distance"},
    {DOUBLE(wan_link, "loss", WL_REAL, loss), NULL, "0", 0, 0.5, NULL, "fraction of packets lost"},
    {DOUBLE(wan_link, "mtu", WL_REAL, mtu_B), "B", "0", 0, 65536, NULL, "IP packet size: rates include headers; 0: rates count only payload"},
    {INT(wan_link, streams), NULL, "0", 0, 1e4, NULL, "TCP streams per link; 0: as many as fill the rate, or one if loss or window is set"},
    {"congestion", WL_CHOICE, WL_AXIS, WL_FIELD(struct wan_link, congestion, int), NULL, "cubic", 0, 0, wan_congestions, "TCP congestion control"},
    {DOUBLE(wan_link, "window", WL_REAL, window_B), "B", "0", 0, 1e12, NULL, "maximum bytes in flight per stream; 0: 3 MiB, the default of Linux"},
    {"queue", WL_SIZE, WL_AXIS, WL_FIELD(struct wan_link, queue_B, uint64_t), "B", "0", 0, 1e12, NULL, "queue size of an emulated link; 0: one bandwidth-delay product"},
    {DOUBLE(wan_link, "burst", WL_REAL, burst), NULL, "1", 1, 1e4, NULL, "mean number of packets that an emulated link loses in a row; 1: each alone"},
    {DOUBLE(wan_link, "jitter", WL_TIME, jitter_s), "s", "0", 0, 1, NULL, "largest extra delay of each direction of an emulated link"},
    {DOUBLE(wan_link, "reorder", WL_REAL, reorder), NULL, "0", 0, 0.5, NULL, "fraction of packets that an emulated link delivers later by a quarter of the RTT"},
    {DOUBLE(wan_link, "cross", WL_RATE, cross_Bps), "B/s", "0B/s", 0, 1e15, NULL, "rate of other traffic in each direction of an emulated link"},
    {0}};
const struct wl_param wan_links_words[] = {
    {DOUBLE(wan_map, "path_factor", WL_REAL, path_factor), NULL, "1.5", 1, 10, NULL, "fibre length divided by great-circle distance"},
    {0}};

const struct wl_param wan_line_words[] = {
    {DOUBLE(wan_line, "rate", WL_RATE, rate_Bps), "B/s", "0B/s", 1, 1e15, NULL, "total rate of its links"},
    {0}};
/* clang-format on */
