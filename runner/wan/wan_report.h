/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the predictions on stdout and writes them as tables.
 */
#pragma once

#include "wan/training.h"
#include "wan/wan_audit.h"

struct wan_report {
    const char *name; /* of the platform */
    const struct wan_map *map;
    const struct wan_training *training;
    const struct wan_finding *findings;
    size_t n_findings;
};

extern const char model_columns[], claims_columns[];
void wan_report_print(const struct wan_report *r);
/* Writes one row per case: all strategies at the config's H and bits, then the config's strategy
 * over H x bits and over rate x bits. The second function writes one row per claim. GS_OK or
 * GS_FAILED, reported. */
int wan_report_csv(const struct wan_report *r, const char *path);
int wan_report_claims_csv(const struct wan_report *r, const char *path);

/* Prints what to set in [wan_sync]. Data parallelism with 16 bits is chosen if it reaches the highest of targets. Else 8
 * fragments that overlap with a step, with as many bits as reach it with H of at most 100. */
void wan_report_plan(const struct wan_map *m, const struct wan_training *t);
