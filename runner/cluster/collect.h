/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies the run folders of a campaign to final ones under data/raw. A copy is checksummed and
 * checked before it is renamed into place.
 */
#pragma once

#include "cluster/campaign.h"

#include <stdbool.h>
#include <stdint.h>

/* Copies the files of a run (config.ini, plan.json, recordings, logs) into the empty folder `to`. A
 * link, or a recording that `check` refuses, is an error. `final`: writes a manifest and makes the
 * files read-only. Adds the copied size to *bytes. GS_OK or reported. */
int collect_run_folder(const char *from, const char *to, bool final, uint64_t *bytes);

struct collected {
    size_t copied, there, lacking; /* runs; there: copied by an earlier collect */
    uint64_t bytes;
};

/* Copies every complete run. With `so_far`, also the others, without a manifest; the next collect
 * replaces those. GS_OK or reported. */
int collect(struct collected *out, const struct campaign *c, const char *raw, bool so_far);
