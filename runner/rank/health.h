/* SPDX-License-Identifier: Apache-2.0
 *
 * What may disturb a measurement, read before and after each block: load, clocks, temperature,
 * power, throttle reasons. A kind of hardware is a source, one row of the table in health.c.
 */
#ifndef GS_HEALTH_H
#define GS_HEALTH_H

#include "rank/team.h"

#include <jansson.h>
#include <stdbool.h>

#define HEALTH_SOURCES_MAX 8
/* Means since a launch began are told from this on: the kernel counts busy time in ticks of 10 ms.
 */
#define HEALTH_MEAN_S 1.0
json_t *health_cores(double used_s, double wall_s);

struct health_source {
    const char *name;
    bool per_node; /* read by one rank of a node; otherwise by every rank, of its own device */
    /* False: nothing of that kind here. close() undoes a true; both may be NULL. */
    bool (*open)(void **self, const struct team *team);
    void (*close)(void *self);
    /* Adds what does not change (name, driver) to this rank's entry in the header's hosts; may be
     * NULL. */
    void (*describe)(void *self, json_t *host);
    /* Adds what does (SI units in the names: cpu_Hz, temperature_C, power_W). Some µs to 1 ms. May
     * be NULL. */
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

/* Collective. On rank 0 {"RANK": {…}, …} of the ranks that have something to say; NULL elsewhere.
 */
json_t *health_read(const struct health *h, const struct team *team);

#endif
