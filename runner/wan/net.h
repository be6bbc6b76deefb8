/* SPDX-License-Identifier: Apache-2.0
 *
 * Sites and the links between them, from a config:
 *
 *   [sites]  NAME = gpus=2 up=1Gbit/s down=1Gbit/s lat=36.1 lon=-97.1 lan=10GB/s ranks=2
 *   [links]  rate, rtt, loss, mtu, queue, streams, congestion, window, path_factor: for every link
 *            A-B = rtt=20ms loss=0.1% rate=200Mbit/s          one link, both directions
 *            A>B = …                                          one direction
 *            shared.NAME = rate=10Gbit/s links=A-B,A-C        a line that several links run over
 *
 *   [link A-B]  rate, rtt, loss, …: one link, both directions, one key per line
 *
 * At most WAN_SITES_MOST sites. The default RTT is that of light in
 * fibre (2/3 c) along the great circle, times path_factor. Units: bytes/s, seconds.
 */
#pragma once

#include "config/config.h"
#include "wan/model.h"
#include "workload.h"

#include <stdbool.h>
#include <stddef.h>

/* Linux: tcp_rmem allows a buffer of 6 MiB, of which half is window. */
#define WAN_WINDOW_B (3.0 * 1048576)
#define WAN_SITES_MOST 64
#define WAN_FIBRE_M_PER_S (2.0 / 3 * 299792458)

struct wan_site {
    char name[WL_TEXT_MAX];
    int64_t gpus, ranks;     /* gpus and ranks: per site; ranks 0: one per GPU */
    double up_Bps, down_Bps; /* in the config 0: [links] rate; down 0: as up */
    double lan_Bps;          /* between the ranks of a site; 0: takes no time */
    double lat, lon;         /* degrees; NaN: unknown */
    const struct config_entry *entry;
};

struct wan_link {
    double rate_Bps; /* 0: limited by the sites only */
    double rtt_s;    /* 0: from the distance */
    double loss;
    double mtu_B;    /* 0: rates count payload */
    int64_t streams; /* 0: as many as fill the rate, or one if loss or a window is given */
    int congestion;  /* enum wan_congestion */
    double window_B; /* of one stream; 0: WAN_WINDOW_B */
    /* Of a lab only: */
    uint64_t queue_B; /* in front of a rate; 0: a bandwidth-delay product */
    double burst;     /* mean number of packets lost in a row */
    double jitter_s;  /* largest extra delay of a direction */
    double reorder;   /* share of packets that others overtake */
    double cross_Bps; /* of other traffic in each direction */
};

struct wan_ends {
    size_t from, to; /* rows of [sites] */
};

/* Keys of one direction of one pair in [links]; sorted by ends. */
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
    struct wan_site *sites; /* [n] */
    size_t n;
    size_t *order; /* rows by place in a ring, n of them; NULL: as in [sites] */
    struct wan_link common;
    bool any_transport; /* rates without the limits of TCP streams */
    double path_factor;
    struct wan_pair *pairs;
    size_t n_pairs;
    struct wan_line *lines;
    size_t n_lines;
    struct wan_crossing *crossings;
    size_t n_crossings;
};

/* Reads [sites] and [links]. GS_OK or GS_USAGE, every fault reported. Call wan_map_free in both
 * cases. The config must outlive the map. */
int wan_map_read(struct wan_map *m, const struct config *c);
void wan_map_free(struct wan_map *m);
/* Checks only keys and values. *rated: every site has a rate, so wan_map_read is worth a try; false
 * without [sites]. May be NULL. */
int wan_map_check_words(const struct config *c, bool *rated);

/* Searches n elements of `size` bytes that begin with their wan_ends and are sorted by them.
 * Returns the index of the first that is not before (from, to). */
size_t wan_ends_find(const void *sorted, size_t n, size_t size, size_t from, size_t to);

/* Lowers the rates and lengthens the round trips by the cost of a lab's disturbances. Only the model
 * needs this: a lab makes the disturbances itself. */
void wan_map_disturb(struct wan_map *m);

/* The link between sites of two rows. Fills in the RTT from the distance, and the
 * rate from the limits of both sites. */
struct wan_link wan_map_link(const struct wan_map *m, size_t from, size_t to);
/* Metres along the great circle; NaN if a place is unknown. */
double wan_map_distance(const struct wan_map *m, size_t from, size_t to);
int64_t wan_map_gpus(const struct wan_map *m);
/* The slowest uplink or downlink of the map, bytes/s. */
double wan_map_rate(const struct wan_map *m);
/* The link between two sites that is slower than every site; false: there is none. Rows. */
bool wan_map_slowest(const struct wan_map *m, size_t *from, size_t *to);
/* A copy without a row (m->n: with all), where both directions of the link between two rows carry
 * rate_Bps, if that is above 0. It shares names and entries with m. Free it with wan_map_free. */
struct wan_map wan_map_copy(const struct wan_map *m, size_t without, size_t from, size_t to,
                            double rate_Bps);

/* The part of the map that a strategy uses: for a ring the links between neighbours in the order of
 * [sites], for the others the worst peer of each site. `factor` multiplies every rate of the WAN.
 * Free with wan_view_free. */
struct wan_view {
    struct wan_net net;                   /* farthest_s: for a ring, between neighbours */
    double *up, *down, *hop, *pair, *end; /* the arrays of net; pair and end: of WAN_DIRECT */
    double nearest_rtt_s, farthest_rtt_s;
};
void wan_view_make(struct wan_view *v, const struct wan_map *m, enum wan_strategy strategy,
                   double factor);
void wan_view_free(struct wan_view *v);

/* Payload of one packet. */
double wan_segment_B(const struct wan_link *l);
/* Payload rate of a link: the rate less headers, limited by its streams (RTT, loss, window). */
double wan_link_Bps(const struct wan_link *l, double factor);
