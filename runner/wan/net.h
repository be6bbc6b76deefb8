/* SPDX-License-Identifier: Apache-2.0
 *
 * Sites and what joins them, from a config:
 *
 *   [sites]  NAME = gpus=2 up=1Gbit/s down=1Gbit/s lat=36.1 lon=-97.1 lan=10GB/s ranks=2 count=1
 *   [links]  rate, rtt, loss, mtu, queue, streams, congestion, window, path_factor: of every link
 *            A-B = rtt=20ms loss=0.1% rate=200Mbit/s          one link, both directions
 *            A>B = …                                          one direction
 *            shared.NAME = rate=10Gbit/s links=A-B,A-C        a line that several links run over
 *
 *   [link A-B]  rate, rtt, loss, …: one link, both directions, a key a line
 *
 * A row of [sites] stands for `count` equal sites in one place. An RTT that is not given is that of
 * light in fibre (2/3 c) along the great circle, times path_factor. Units: bytes/s, seconds.
 */
#ifndef GS_WAN_NET_H
#define GS_WAN_NET_H

#include "config/config.h"
#include "wan/model.h"
#include "workload.h"

#include <stdbool.h>
#include <stddef.h>

/* Linux: tcp_rmem lets 6 MiB of buffer grow, of which half is window. */
#define WAN_WINDOW_B (3.0 * 1048576)
#define WAN_FIBRE_M_PER_S (2.0 / 3 * 299792458)

struct wan_site {
    char name[WL_TEXT_MAX];
    int64_t count, gpus, ranks; /* gpus and ranks: of one site; ranks 0: one a GPU */
    double up_Bps, down_Bps;    /* 0 as read: [links] rate; down: as up */
    double lan_Bps;             /* between the ranks of a site; 0: takes no time */
    double lat, lon;            /* degrees; NaN: not said */
    const struct config_entry *entry;
};

struct wan_link {
    double rate_Bps; /* 0: as the sites' ends */
    double rtt_s;    /* 0: from the distance */
    double loss;
    double mtu_B;     /* 0: rates count payload */
    int64_t streams;  /* 0: as many as fill the rate, or one if loss or a window is given */
    int congestion;   /* enum wan_congestion */
    double window_B;  /* of one stream; 0: WAN_WINDOW_B */
    uint64_t queue_B; /* in front of a rate, in a lab; 0: a bandwidth-delay product */
};

struct wan_ends {
    size_t from, to; /* rows of [sites] */
};

/* What stands in [links] of its own for one direction of one pair; sorted by ends. */
struct wan_pair {
    struct wan_ends ends;
    struct wan_link link;
    const struct config_entry *entry;
};

/* A direction of a link that runs over a shared line; sorted by ends. */
struct wan_crossing {
    struct wan_ends ends;
    size_t line;
};

struct wan_line {
    double rate_Bps;
    size_t crossings; /* links over it in one direction */
};

struct wan_map {
    struct wan_site *sites; /* rows */
    size_t n_rows, n;       /* n: sites, counts considered */
    struct wan_link common;
    bool any_transport; /* rates as any transport could use them: no limit by TCP streams */
    double path_factor;
    struct wan_pair *pairs;
    size_t n_pairs;
    struct wan_line *lines;
    size_t n_lines;
    struct wan_crossing *crossings;
    size_t n_crossings;
    size_t (*typical)[3]; /* of a row: its nearest, farthest and slowest peer without a pair */
};

/* Reads [sites] and [links]. GS_OK or GS_USAGE, every fault reported; wan_map_free in both cases.
 * The config must outlive the map. */
int wan_map_read(struct wan_map *m, const struct config *c);
void wan_map_free(struct wan_map *m);

/* Finds each row's typical peers; the last step of wan_map_read. */
void wan_map_peers(struct wan_map *m);

/* The first of n elements of `size` bytes, each beginning with its ends and sorted by them, that is
 * not before (from, to). */
size_t wan_ends_find(const void *sorted, size_t n, size_t size, size_t from, size_t to);

/* The link from one row's sites to another's (or the same row's), everything filled in: rtt from
 * the distance, rate as the ends allow. */
struct wan_link wan_map_link(const struct wan_map *m, size_t from, size_t to);
/* Metres along the great circle; NaN when a place is not said. */
double wan_map_distance(const struct wan_map *m, size_t from, size_t to);
int64_t wan_map_gpus(const struct wan_map *m);

/* What a strategy sees of the map: a ring its neighbours alone, in the order of [sites], the others
 * each site's worst peer. `factor` multiplies every rate of the WAN. Free with wan_view_free. */
struct wan_view {
    struct wan_net net;      /* farthest_s: of a ring, between neighbours */
    double *up, *down, *hop; /* what net points to */
    double nearest_rtt_s, farthest_rtt_s;
};
void wan_view_make(struct wan_view *v, const struct wan_map *m, enum wan_strategy strategy,
                   double factor);
void wan_view_free(struct wan_view *v);

/* Payload of one of its packets. */
double wan_segment_B(const struct wan_link *l);
/* What a link carries in payload: its rate, its streams by RTT, loss and window, its headers. */
double wan_link_Bps(const struct wan_link *l, double factor);

#endif
