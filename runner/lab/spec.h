/* SPDX-License-Identifier: Apache-2.0
 *
 * The specification of a lab: [sites] and [links] of a config (wan/net.h) in the form that the
 * relay and the namespaces need. Rates count IP packets, headers included. Units: bytes, bytes/s,
 * seconds.
 */
#pragma once

#include "config/config.h"
#include "workload.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LAB_SITES_MAX 32
/* Addresses in the two networks of a site (lab/site.h). */
#define SITE_WAN_NET "10.77.0."
#define SITE_CTL_NET "10.78.0."
#define SITE_FIRST_HOST 1 /* the first site is .1 */

struct lab_site {
    char name[WL_TEXT_MAX];
    double up_Bps, down_Bps;
    double up_queue_B, down_queue_B; /* maximum queues at its end of the link */
};

/* One direction between two sites. */
struct lab_way {
    double rate_Bps; /* 0: limited by the sites only */
    double queue_B;  /* in front of the rate */
    double delay_s;  /* half the RTT of this direction */
    double loss;
};

struct lab_spec {
    size_t n; /* sites */
    struct lab_site *sites;
    struct lab_way *ways; /* [from * n + to] */
    int mtu_B;
    const char *congestion; /* the name that the kernel uses */
    char host[256];         /* of this machine; at a site, its name is that of the site */
};

/* GS_OK or GS_USAGE, reported. Call lab_spec_free in both cases. */
int lab_spec_read(struct lab_spec *s, const struct config *c);
void lab_spec_free(struct lab_spec *s);

double lab_max_rtt_s(const struct lab_spec *s);
double lab_slowest_Bps(const struct lab_spec *s); /* over all sites and pairs */
#define LAB_FACTS_VARIABLE "GRADSYNC_LAB"

/* `holders`: one process in each site. */
json_t *lab_facts_make(const struct lab_spec *s, double rmem_B, const pid_t *holders,
                       const char *control);
/* Writes the file atomically. GS_OK or GS_FAILED, reported. */
int lab_facts_write(const json_t *facts, const char *path);

/* Reads the description of the lab that this process runs in; NULL outside of a lab. The caller
 * frees it. GS_OK, or GS_CANNOT, reported: GRADSYNC_LAB names no readable file. */
int lab_facts_read(json_t **facts);
/* True when every host ("a, b") is one of [sites], but this process runs outside of a lab. */
bool lab_facts_missed(const struct config *c, const char *hosts);
/* What one site can send another: the least of the pair's rate and those of the sites. INFINITY:
 * they are none of this lab. */
double lab_facts_line_Bps(const json_t *lab, const char *from, const char *to);
/* For a recording: without pid and control. NULL outside of a lab. */
json_t *lab_facts_recorded(void);
