/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads conditions that may disturb a measurement, before and after each block: load, clocks,
 * temperature, power, throttle reasons. Each kind of hardware is a source in the table of health.c.
 */
#pragma once

#include "rank/team.h"

#include <jansson.h>
#include <stdbool.h>

#define HEALTH_SOURCES_MAX 8
/* Means since the launch began are recorded after this time, because the kernel counts busy time in
 * ticks of 10 ms. */
#define HEALTH_MEAN_S 1.0
json_t *health_cores(double used_s, double wall_s);

struct health_source {
    const char *name;
    bool per_node; /* read by one rank per node; otherwise by each rank for its device */
    /* False: no such hardware. close() follows a successful open(); both may be NULL. */
    bool (*open)(void **self, const struct team *team);
    void (*close)(void *self);
    /* Adds constant facts (name, driver) to this rank's entry in the header's hosts; may be NULL. */
    void (*describe)(void *self, json_t *host);
    /* Adds readings, with SI units in their names (cpu_Hz, temperature_C, power_W). Takes some µs to
     * 1 ms. May be NULL. */
    void (*read)(void *self, json_t *now);
};

extern const struct health_source health_host, health_cpu, health_nvml, health_fabric;

struct health {
    void *self[HEALTH_SOURCES_MAX];
    bool open[HEALTH_SOURCES_MAX];
};

void health_open(struct health *h, const struct team *team);
void health_close(struct health *h);
void health_describe(const struct health *h, json_t *host);

/* Collective. Rank 0 gets {"RANK": {…}, …} for ranks with readings; the others get NULL. */
json_t *health_read(const struct health *h, const struct team *team);
