/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rank runs on, from the header of a recording and the readings beside its blocks.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Means over the readings; NaN: none. */
enum reading {
    READING_SM_HZ,
    READING_MEMORY_HZ,
    READING_POWER_W,
    READING_TEMPERATURE_C,
    READING_OWN_CORES,
    READINGS
};

struct rank_facts {
    char *host;
    char *model; /* of the GPU; of the CPU where there is none */
    char *uuid;  /* of the GPU; "" */
    bool gpu;
    int index;                  /* of the GPU on its host; rank of the host where none */
    double pcie_width, nvlinks; /* NaN: unknown */
    double nvlink_errors;       /* counted since the driver was loaded */
    char **ways;                /* of PCIe to the other GPUs */
    size_t n_ways;
    double sum[READINGS], count[READINGS];
    size_t readings, throttled; /* that name throttle reasons; with one that slows */
    char *reasons;              /* "hw_thermal, power_cap"; NULL: none */
};

void rank_facts_read(struct rank_facts *ranks, size_t n, const json_t *hosts);
void rank_facts_health(struct rank_facts *ranks, size_t n, const json_t *health);
/* NaN: no reading. */
double rank_facts_reading(const struct rank_facts *r, enum reading k);
void rank_facts_free(struct rank_facts *r);

/* Do two ranks have the same host? */
bool rank_facts_same_host(const struct rank_facts *a, const struct rank_facts *b);
/* What kind of link joins them, so that only links of one kind are compared: "NVLink", "network". The
 * result is static or belongs to a. */
const char *rank_facts_link(const struct rank_facts *a, const struct rank_facts *b);
