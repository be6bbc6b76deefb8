/* SPDX-License-Identifier: Apache-2.0
 *
 * The links between sites as `gradsync links` measured them: for each direction of each pair and
 * each config (streams and congestion control) the rate alone and with the other direction. Prints
 * them, and writes them into a config. Rates count IP packets, in bytes/s; each is the best of all
 * blocks, but none is above the line of a lab. Matrices are [from * n + to]; NaN: unknown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define LINKS_CONFIGS_MAX 16

struct links_config {
    int streams;
    char congestion[16];
    double *alone, *both, *loss;
};

struct links {
    size_t n;
    char **names; /* of the sites */
    double *rtt_s, *spread_s, *mtu_B;
    double *line_Bps;          /* what a lab gives */
    double *up_Bps, *down_Bps; /* [n], by site: while all send to all; NaN: not measured */
    char usual[16];            /* the congestion control that the kernel has by itself */
    struct links_config configs[LINKS_CONFIGS_MAX];
    size_t n_configs;
};

void links_make(struct links *l, size_t n);
void links_free(struct links *l);
/* The config with these settings, added if it is new; NULL: there are too many. */
struct links_config *links_config(struct links *l, int streams, const char *congestion);

/* Takes the rate of a block. `alone`: the other direction was idle. */
void links_take(struct links *l, struct links_config *c, bool alone, size_t at, double rate_Bps);
/* What the link gives, alone or while the other direction is busy: the mean of the configs that
 * come near to the fastest one, which alone would be the luckiest. */
double links_rate(const struct links *l, bool alone, size_t from, size_t to);
/* The simplest of those that are within 5% of the best one: the kernel's own congestion control needs nobody's
 * permission, and each stream costs memory. */
const struct links_config *links_best(const struct links *l);

void links_print(const struct links *l);
/* A config with these links: [links] and up and down of [sites] are replaced, a line LINKS_ADDED
 * and all below it is left out. `origin` names the run. The caller frees it. */
#define LINKS_ADDED "# Added by gradsync links:"
char *links_config_text(const struct links *l, const char *config, const char *origin);
