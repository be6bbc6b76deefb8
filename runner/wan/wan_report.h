/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the predictions on stdout and writes them as tables.
 */
#pragma once

#include "wan/advice.h"
#include "wan/wan_audit.h"

struct wan_report {
    const char *name; /* of the platform */
    const struct wan_map *map;
    const struct wan_training *training;
    const struct wan_alternative *alternatives;
    size_t n_alternatives;
    const struct wan_finding *findings;
    size_t n_findings;
};

extern const char model_columns[], claims_columns[];
/* Prints the link whose losses take most from its streams, and what would not lose it. Nothing, if
 * losses take little. */
void wan_report_losses(const struct wan_map *m);

/* "16 Gbit/s", or "a-b 40 Mbit/s" where one pair is the reason. */
void wan_need_text(const struct wan_map *m, const struct wan_need *need, char *text, size_t size);
/* One sentence if training without one of the sites is faster. */
void wan_report_slow_site(const struct wan_case *plan);
void wan_report_print(const struct wan_report *r);
/* Writes one row per case: all strategies at the config's H and bits, then the config's strategy
 * over H x bits and over rate x bits. The second function writes one row per claim. GS_OK or
 * GS_FAILED, reported. */
int wan_report_csv(const struct wan_report *r, const char *path);
int wan_report_claims_csv(const struct wan_report *r, const char *path);
