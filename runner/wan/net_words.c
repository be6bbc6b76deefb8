/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/net_words.h"

#include "wan/net.h"

#define INT(S, m) #m, WL_INT, WL_AXIS, WL_FIELD(struct S, m, int64_t)
#define DOUBLE(S, name, type, m) name, type, WL_AXIS, WL_FIELD(struct S, m, double)

/* clang-format off */
const struct wl_param wan_site_words[] = {
    {INT(wan_site, count), NULL, "1", 1, 1e6, NULL, "equal sites in this place"},
    {INT(wan_site, gpus), NULL, "0", 0, 1e6, NULL, "of one site"},
    {INT(wan_site, ranks), NULL, "0", 0, 1e6, NULL, "members of its own reduction; 0: one a GPU"},
    {DOUBLE(wan_site, "up", WL_RATE, up_Bps), "B/s", "0B/s", 0, 1e15, NULL, "what it can send; 0: [links] rate"},
    {DOUBLE(wan_site, "down", WL_RATE, down_Bps), "B/s", "0B/s", 0, 1e15, NULL, "what it can receive; 0: as up"},
    {DOUBLE(wan_site, "lan", WL_RATE, lan_Bps), "B/s", "0B/s", 0, 1e15, NULL, "between its ranks; 0: takes no time"},
    {DOUBLE(wan_site, "lat", WL_REAL, lat), "degree", "0", -90, 90, NULL, "latitude, north positive"},
    {DOUBLE(wan_site, "lon", WL_REAL, lon), "degree", "0", -180, 180, NULL, "longitude, east positive"},
    {0}};

static const char *const congestions[] = {"reno", "cubic", "bbr", NULL};
const struct wl_param wan_link_words[] = {
    {DOUBLE(wan_link, "rate", WL_RATE, rate_Bps), "B/s", "0B/s", 0, 1e15, NULL, "what it carries; 0: as its ends"},
    {DOUBLE(wan_link, "rtt", WL_TIME, rtt_s), "s", "0", 0, 3600, NULL, "there and back; 0: from the distance"},
    {DOUBLE(wan_link, "loss", WL_REAL, loss), NULL, "0", 0, 0.5, NULL, "share of packets lost"},
    {DOUBLE(wan_link, "mtu", WL_REAL, mtu_B), "B", "0", 0, 65536, NULL, "rates count IP packets of so many bytes; 0: rates count payload"},
    {INT(wan_link, streams), NULL, "1", 1, 1e4, NULL, "TCP streams a link"},
    {"congestion", WL_CHOICE, WL_AXIS, WL_FIELD(struct wan_link, congestion, int), NULL, "cubic", 0, 0, congestions, "of the streams"},
    {DOUBLE(wan_link, "window", WL_REAL, window_B), "B", "0", 0, 1e12, NULL, "bytes a stream has on the way at most; 0: no limit"},
    {"queue", WL_SIZE, WL_AXIS, WL_FIELD(struct wan_link, queue_B, uint64_t), "B", "0", 0, 1e12, NULL, "what waits in front of a rate, in a lab; 0: a bandwidth-delay product"},
    {0}};
const struct wl_param wan_links_words[] = {
    {DOUBLE(wan_map, "path_factor", WL_REAL, path_factor), NULL, "1.5", 1, 10, NULL, "how much longer fibre is than the great circle"},
    {0}};

const struct wl_param wan_line_words[] = {
    {DOUBLE(wan_line, "rate", WL_RATE, rate_Bps), "B/s", "0B/s", 1, 1e15, NULL, "of all its links together"},
    {0}};
/* clang-format on */
