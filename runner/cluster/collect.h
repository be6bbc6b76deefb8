/* SPDX-License-Identifier: Apache-2.0
 *
 * From a campaign's run folders to final ones under data/raw: copied with their checksums, looked
 * through, and only then put in place.
 */
#ifndef GS_COLLECT_H
#define GS_COLLECT_H

#include "cluster/campaign.h"

#include <stdbool.h>
#include <stdint.h>

struct collected {
    size_t copied, there, lacking; /* runs; there: by an earlier collect */
    uint64_t bytes;
};

/* Every run that is whole; with `so_far` also the others, without a manifest, to be replaced by the
 * next collect. GS_OK or reported. */
int collect(struct collected *out, const struct campaign *c, const char *raw, bool so_far);

#endif
