/* SPDX-License-Identifier: Apache-2.0
 *
 * Sites and the links between them, from a config:
 *
 *   [sites]  NAME = gpus=2 up=1Gbit/s down=1Gbit/s lat=36.1 lon=-97.1 lan=10GB/s ranks=2
 *   [links]  rate, rtt, loss, mtu, queue, streams, congestion, window, path_factor: for every link
 *            A-B = rtt=20ms loss=0.1% rate=200Mbit/s          one link, both directions
 *            A>B = …                                          one direction
 *
 * At most WAN_SITES_MOST sites. The default RTT is that of light in
 * fibre (2/3 c) along the great circle, times path_factor. Units: bytes/s, seconds.
 */
#pragma once

#include "common/wan_model.h"
#include "config/config.h"
#include "workload.h"

#include <stdbool.h>
#include <stddef.h>

#define WAN_HEADERS_B 52.0 /* IPv4, and TCP with the timestamp option */

/* Rate of one TCP stream: limited by link, window or losses. */
enum wan_congestion { WAN_RENO, WAN_CUBIC, WAN_BBR };

double wan_stream_Bps(enum wan_congestion cc, double link_Bps, double rtt_s, double loss,
                      double mss_B, double window_B);
/* Of K streams that limit themselves (by their window, or by losses), each of which sends a K-th. Their
 * rates differ, so the exchange waits for the slowest: exp(-0.6 sqrt(ln K)) of the mean. Eight streams
 * carry 3.4 times as much as one, 64 carry 19 times as much. Fits 1 to 64 streams between six sites in
 * western Europe (Keiblinger et al. 2025, PCCL) within 1.5x. */
double wan_streams_Bps(double stream_Bps, double streams);
/* Payload fraction of a rate that counts IP packets. The rest are the headers of segments, and the
 * ACKs for the other direction (one per two segments), which share the link if both are busy. */
double wan_goodput(double mtu_B);

/* Synchronising every `every` steps in `fragments` pieces. */
struct wan_schedule {
    double every, fragments; /* H, P */
    double hidden;           /* steps of compute that can overlap with the exchange of a fragment */
    double outer_s;          /* the outer optimiser's step, per synchronisation */
    double straggle_s;       /* waiting for the slowest, per step */
    double wire_s;           /* a fragment's time on the uplink alone; 0: all of its exchange */
};

/* Seconds per H steps in which nothing is computed, given the sync of one fragment:
 * P max(0, T_fragment - hidden T_c). The fragments follow each other over the same links, so it is
 * at least P T_fragment - H T_c; where several may be in flight, only their time on the uplink adds
 * up. Solved for the rate, this is the formula of Douillard et al. 2025
 * with hidden = 2/3 + tau: W = (bytes / P) / [(H T_c / P)(1/CU - 1) + (2/3 + tau) T_c]. The 2/3 is
 * the backward pass, beside which even the exchange of every step can run. */
double wan_exposed_s(const struct wan_schedule *sch, double compute_s, double fragment_s);
/* H T_c / (H T_c + exposed + outer + H straggle) */
double wan_efficiency(const struct wan_schedule *sch, double compute_s, double fragment_s);

extern const char *const wan_congestions[]; /* by enum wan_congestion, then NULL */

/* Each ends with a NULL name. */
extern const struct wl_param wan_site_words[];  /* of a row of [sites]: struct wan_site */
extern const struct wl_param wan_link_words[];  /* of [links], of a pair: struct wan_link */
extern const struct wl_param wan_links_words[]; /* of [links] alone: struct wan_map */

/* param_parse, which also takes 7B and 1T for a number. */
bool wan_param_parse(const struct wl_param *p, const char *text, void *object, char *why, size_t n);
/* Reads a plain value of one parameter. */
int wan_value_read(const struct config_entry *e, const struct wl_param *p, void *object);

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
    double mtu_B;     /* 0: rates count payload */
    int64_t streams;  /* 0: as many as fill the rate, or one if loss or a window is given */
    int congestion;   /* enum wan_congestion */
    double window_B;  /* of one stream; 0: WAN_WINDOW_B */
    bool free_sends;  /* whichever stream is free sends the next block: their rates add up */
    uint64_t queue_B; /* of a lab, in front of a rate; 0: a bandwidth-delay product */
    /* Of old recordings of a lab: */
    double burst;                     /* mean number of packets lost in a row */
    double jitter_s;                  /* largest extra delay of a direction */
    double reorder;                   /* share of packets that others overtake */
    double cross_Bps;                 /* of other traffic in each direction */
    const struct config_entry *entry; /* the row of this link alone; NULL: there is none */
};

struct wan_map {
    struct wan_site *sites; /* [n] */
    size_t n;
    struct wan_link common;
    bool any_transport; /* rates without the limits of TCP streams */
    double path_factor;
    struct wan_link *links; /* [from * n + to]; rate 0: that of the sites */
};

/* Reads [sites] and [links]. GS_OK or GS_USAGE, every fault reported. Call wan_map_free in both
 * cases. The config must outlive the map. */
int wan_map_read(struct wan_map *m, const struct config *c);
void wan_map_free(struct wan_map *m);
/* Checks only keys and values. *rated: every site has a rate, so wan_map_read is worth a try; false
 * without [sites]. May be NULL. */
int wan_map_check_words(const struct config *c, bool *rated);

/* Lowers the rates and lengthens the round trips by what `jitter` and `cross` cost in an old
 * recording. */
void wan_map_disturb(struct wan_map *m);

/* The link between sites of two rows. Fills in the RTT from the distance, and the
 * rate from the limits of both sites. */
struct wan_link wan_map_link(const struct wan_map *m, size_t from, size_t to);
/* The slowest uplink or downlink of the map, bytes/s. */
double wan_map_rate(const struct wan_map *m);
/* The link between two sites that is slower than every site; false: there is none. Rows. */
bool wan_map_slowest(const struct wan_map *m, size_t *from, size_t *to);
/* A copy without a row. It shares entries with m. Free it with wan_map_free. */
struct wan_map wan_map_without(const struct wan_map *m, size_t row);

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
/* Payload rate of a link: the rate less headers, limited by its streams (their number, RTT, loss and
 * window). */
double wan_link_Bps(const struct wan_link *l, double factor);
